/** Requests to the server, and what can become of them. */

/** The server answered, but not with what was asked for. `body` is its JSON, `message` its words. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {any} body
   * @param {number | null} wait seconds after which to try again, where the server named them
   */
  constructor(status, body, wait = null) {
    super(body?.error ?? "The server did not understand this page. Reload it.");
    this.status = status;
    this.body = body;
    this.wait = wait;
  }

  /** Whether the same request may well succeed later. */
  get passing() {
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

/** No answer came: there is no network, or no server. */
export class Unreachable extends Error {
  constructor() {
    super("The server cannot be reached.");
  }
}

const PATIENCE = 20_000;

/**
 * One request with its JSON answer. Throws `Refused` or `Unreachable`.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
export async function request(method, path, body, headers = {}) {
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
      signal: AbortSignal.timeout(PATIENCE),
    });
    text = await response.text();
  } catch {
    throw new Unreachable();
  }
  const answer = parsed(text);
  if (response.ok && (answer !== undefined || text === "")) return answer ?? null;
  const wait = Number(response.headers.get("Retry-After"));
  throw new Refused(response.ok ? 502 : response.status, answer, wait > 0 ? wait : null);
}

/** @param {string} path */
export const get = (path) => request("GET", path);

/**
 * @param {string} path
 * @param {any} [body]
 * @param {Record<string, string>} [headers]
 */
export const post = (path, body = {}, headers = {}) => request("POST", path, body, headers);

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a proxy's error page, for instance
  }
}
