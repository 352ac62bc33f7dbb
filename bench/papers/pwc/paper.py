"""The experiments of "Photon: Remote Memory Access Middleware for High-Performance Runtime
Systems" (Kissel and Swany, 2016): put and get with completion."""
import plan

SIZES = {"tiny": "8,4K", "quick": "8,64,1K,16K,256K",
         "whole": "1,8,64,128,256,1K,2K,8K,32K,64K,256K,1M"}


def latency_of(question):
    def measure(bench):
        more = ["--iterations", "200"] if bench.mode == "tiny" else []
        rows = bench.perf(question, "--sizes", SIZES[bench.mode], *more)
        return [{"panel": question, "series": "Photon", "x": row["size_bytes"],
                 "value": row["latency_ns"]["p50"] / 1000, "state": row["machine"]["state"]}
                for row in rows]
    return measure


def latency_steps(mode):
    return [plan.Step(question, latency_of(question), {"tiny": 1, "quick": 8, "whole": 60}, cores=2)
            for question in ("put-latency", "get-latency")]


LATENCY = plan.Experiment("latency", "Half a round trip of a put, and a get.",
                          "photonrun -n 2 photon-perf put-latency", latency_steps, {None: "us"})

PAPER = plan.Paper(
    "pwc", "Photon: Remote Memory Access Middleware for High-Performance Runtime Systems", (LATENCY,),
    (plan.Figure("figure3a", "figure 3(a, d)", "Latency of puts and gets over their size.",
                 "latency", "bytes"),),
    (plan.Claim("IV-B, figure 3", "a put of 8 bytes takes as long as GASNet's", "-", "latency",
                lambda rows: plan.cannot("GASNet is not installed", f"{rows.value(panel='put-latency', x=8):.3f} us")),))
