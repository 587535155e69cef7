// The style of the timeline page: in the reader's preferred colours, for narrow windows too.
export const style = `
:root{color-scheme:light dark;--page:#fff;--text:#1f2328;--soft:#59636e;--edge:#d1d9e0;--panel:#f6f8fa;--work:#54aeff;--waiting:#d4a72c;--stable:#4ac26b;--bad:#cf222e;--engine:#818b98;--resuming:#bf87ff;--focus:#0969da}
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--text:#f0f6fc;--soft:#9198a1;--edge:#3d444d;--panel:#151b23;--work:#388bfd;--waiting:#bb8009;--stable:#2ea043;--bad:#f85149;--engine:#656c76;--resuming:#a371f7;--focus:#4493f8}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1200px;padding:16px 20px 40px;background:var(--page);color:var(--text);font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",Arial,sans-serif}
h1{font-size:24px;margin:0}h1.bad{color:var(--bad)}h2{font-size:17px;margin:24px 0 8px}h3{font-size:14px;margin:12px 0 4px}
header p,.legend{color:var(--soft);margin:2px 0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--panel);border-left:4px solid var(--bad);margin:0;padding:8px 12px;font:12px/1.5 ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
table{border-collapse:collapse}th{font-weight:400;text-align:left;padding:2px 16px 2px 0}td{text-align:right;padding:2px 0 2px 16px;font-variant-numeric:tabular-nums;white-space:nowrap}
.parts{display:flex;height:18px;border-radius:4px;overflow:hidden;margin-bottom:8px;background:var(--panel)}
.key{display:inline-block;width:14px;height:10px;border-radius:2px;margin-right:6px;vertical-align:baseline}
.work,.resources{background:var(--work)}.waiting,.gates{background:var(--waiting)}.stable,.windows{background:var(--stable)}.failed,.interrupted{background:var(--bad)}.engine{background:var(--engine)}.resuming{background:var(--resuming)}
.interrupted{opacity:.55}
.legend span{margin-right:16px;white-space:nowrap}.filter{display:inline-block;margin:8px 0}
ol,ul{list-style:none;margin:0;padding:0}
.row{display:grid;grid-template-columns:minmax(180px,27%) 1fr 72px;gap:10px;align-items:center;min-height:24px;padding:0 4px;border-bottom:1px solid var(--edge)}
summary{cursor:pointer;list-style:none}summary::-webkit-details-marker{display:none}
summary .name::after{content:" ▸";color:var(--soft)}details[open] summary .name::after{content:" ▾"}
summary:hover,div.row:hover{background:var(--panel)}:focus-visible{outline:2px solid var(--focus);outline-offset:-2px}
.name{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}small{color:var(--soft);font-size:12px}
.critical .name{font-weight:600}.critical>.row,.critical>details>.row{border-left:3px solid var(--text);padding-left:8px}
.lane:not(.critical)>.row,.lane:not(.critical)>details>.row,.axis{padding-left:11px}
.gate .name{color:var(--text)}.gate>details>.row,.gate>.row{background:var(--panel)}
.took{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;font-size:12px}
.track{position:relative;height:16px;display:block}
.bar{position:absolute;top:2px;height:12px;min-width:2px;border-radius:2px}
.pause{position:absolute;top:-4px;bottom:-4px;background:repeating-linear-gradient(135deg,var(--edge) 0 2px,transparent 2px 7px)}
i.mark{position:absolute;top:-2px;width:2px;height:6px;background:var(--text)}i.mark.fact{top:12px}i.mark.error{background:var(--bad);height:20px}
.key.mark{position:static;width:2px;height:8px;margin:0 8px 0 4px}
.axis{position:sticky;top:0;background:var(--page);z-index:1;color:var(--soft);font-size:12px;height:24px}.axis .track span{position:absolute;border-left:1px solid var(--edge);padding-left:4px;height:18px;white-space:nowrap}
details ul{padding:6px 12px 10px 14px;border-bottom:1px solid var(--edge);font:12px/1.6 ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere;white-space:pre-wrap}
li.error{color:var(--bad)}li.fact{color:var(--soft)}
main:has(#only:checked) .lane:not(.critical){display:none}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(max-width:720px){.row{grid-template-columns:1fr auto;gap:0 8px;padding-bottom:3px}.track{grid-column:1/-1;grid-row:2}.axis>span:not(.track){display:none}.legend span{display:inline-block}}
@media print{.filter{display:none}}
`;
