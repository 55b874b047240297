import time, sys
from evenhand.protocol.load import load_protocol
from evenhand.records import *
from evenhand.store.open import create_store
from evenhand.store import pending as PN
P = load_protocol("feedback")
def test_plan(store_location):
    N = 100_000 if "postgres" in store_location else 200_000
    t=time.perf_counter()
    s=create_store(store_location,P,"p",((Item(f"item-{n:07d}",{"feedback":"x"*200,"submission":"y","criterion":"c"}),[]) for n in range(N)))
    s.add_rater(RaterRef("a",Kind.MODEL)); s.add_rater(RaterRef("m",Kind.MODEL))
    crit=[c.id for c in P.criteria if c.scale.type=="ordinal"]
    s.add_ratings(Rating(unit=f"item-{i:07d}",criterion=c,rater="m",digest=P.digest,value=3) for i in range(N//4) for c in crit)
    s.add_ratings(Rating(unit=f"item-{i:07d}",criterion=crit[0],rater="m",digest=P.digest,status=Status.FAILED,reason="x") for i in range(N//2,N//2+N//10))
    print("\nmade",N,time.perf_counter()-t, len(crit))
    def t(name,f):
        c,w=time.process_time(),time.perf_counter(); r=f(); print(f"{name:30s} cpu {time.process_time()-c:.3f} wall {time.perf_counter()-w:.3f} s",r)
    t("count",lambda:s.count_pending("m")); t("count failed",lambda:s.count_pending("m",failed=True))
    t("first after done quarter",lambda:next(s.pending("m"))[0].id)
    t("all pending",lambda:sum(1 for _ in s.pending("m"))); t("all pending failed",lambda:sum(1 for _ in s.pending("m",failed=True)))
    t("all pending a",lambda:sum(1 for _ in s.pending("a")))
    t("failed_at 200",lambda:len(s.failed_at("m",[f"item-{i:07d}" for i in range(N//2,N//2+200)])))
    with s._reading() as c:
        a=s._asked("m",True); w={**a.numbers(c),"after":1000,"end":1200}
        for q in (PN._UNRATED,PN._FAILED,PN._COUNT_EITHER,PN._TIMES):
            comp=q.compile(c,compile_kwargs={"render_postcompile":True})
            extra={"items":[5,6],"positions":[1]}
            comp=q.params(**{k:v for k,v in {**w,**extra}.items()}).compile(c,compile_kwargs={"literal_binds":True})
            pre="EXPLAIN QUERY PLAN " if c.dialect.name=="sqlite" else "EXPLAIN "
            print("---"); [print("  ",*r) for r in c.exec_driver_sql(pre+str(comp).replace("%%","%"))]
    s.close()
