/** Requests to the server, and how they can fail. */

/** The server refused the request. `body` is the JSON it sent, `message` its explanation. */
export class Refused extends Error {
  /** @param {number} status @param {any} body @param {number | null} retryAfter seconds, if the server named them */
  constructor(status, body, retryAfter = null) {
    const message = body?.error ?? "The server could not process this request. Reload the page.";
    super(message.replace(/\bbody(?:\.\w+)*: /g, "")); // without the places of fields in the request
    this.status = status;
    this.body = body;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get isTemporary() {
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }

  /** What is wrong with the fields of a form, as `body.FIELD: problem`. @returns {string[]} */
  get problems() {
    return this.body?.problems ?? [];
  }
}

/** No response arrived: there is no network or no server. */
export class Unreachable extends Error {
  constructor() {
    super("The server cannot be reached.");
  }
}

const TIMEOUT_MS = 20_000;

/**
 * Sends a request and returns the JSON of the response. Throws `Refused` or `Unreachable`.
 * @param {string} method @param {string} path @param {any} [body] @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
export async function request(method, path, body, headers = {}) {
  /** @type {Record<string, string>} */
  const sent = { Accept: "application/json", ...headers };
  if (method !== "GET") sent["X-Evenhand"] = "1";
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response;
  let text;
  try {
    response = await fetch(path, {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await response.text();
  } catch {
    throw new Unreachable();
  }
  const json = parsed(text);
  if (response.ok && (json !== undefined || text === "")) return json ?? null;
  const seconds = Number(response.headers.get("Retry-After"));
  throw new Refused(response.ok ? 502 : response.status, json, seconds > 0 ? seconds : null);
}

/** @param {string} path */
export const get = (path) => request("GET", path);

/** @param {string} path @param {any} [body] @param {Record<string, string>} [headers] */
export const post = (path, body = {}, headers = {}) => request("POST", path, body, headers);

/** An error of a request; others are thrown again. @param {unknown} error @returns {Refused | Unreachable} */
export function requestError(error) {
  if (error instanceof Refused || error instanceof Unreachable) return error;
  throw error;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a proxy's error page, for instance
  }
}
