/** The adjudication page. */

import { Refused, Unreachable, get } from "./api.js";
import { byId, element } from "./element.js";
import { RulingBench } from "./ruling_bench.js";

async function begin() {
  try {
    const bench = new RulingBench(await get("/api/disputes/form"));
    await bench.start();
  } catch (fault) {
    if (!(fault instanceof Refused) && !(fault instanceof Unreachable)) throw fault;
    byId("banners").append(element("p", { class: "notice bad", role: "alert" }, fault.message));
  }
}

begin();
