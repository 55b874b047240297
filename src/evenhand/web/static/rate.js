/** The rating page. */

import { Refused, Unreachable, get } from "./api.js";
import { Bench } from "./bench.js";
import { byId } from "./element.js";
import { showTrouble } from "./ending.js";

async function begin() {
  try {
    const bench = new Bench(await get("/api/form"));
    await bench.start();
    bench.frame.greet();
  } catch (fault) {
    if (!(fault instanceof Refused) && !(fault instanceof Unreachable)) throw fault;
    byId("workbench").replaceChildren(showTrouble(fault, () => location.reload()));
  }
}

begin();
