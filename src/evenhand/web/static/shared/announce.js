/** Messages for screen readers. */

const region = document.getElementById("announcements");
let timer = 0;

/** Announces a message once the page is quiet; a later message replaces an earlier one. @param {string} message */
export function announce(message) {
  if (!region) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    region.textContent = "";
    requestAnimationFrame(() => region.append(message));
  }, 150);
}
