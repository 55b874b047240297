/** Words for people who do not see what changed. */

const region = document.getElementById("announcements");
let timer = 0;

/**
 * Says something politely, once the page is still; a later saying takes an earlier one's place.
 * @param {string} words
 */
export function announce(words) {
  if (!region) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    region.textContent = "";
    requestAnimationFrame(() => region.append(words));
  }, 150);
}
