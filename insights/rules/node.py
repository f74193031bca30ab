"""Rules for Node.js."""

from django.utils.translation import gettext_lazy as _

from insights.rule import CPU_OR_WALL, Language, WasteRule
from profiles.query import FramePattern

RULES = (
    WasteRule(
        "node-gc",
        Language.NODE,
        _("Garbage collection takes a large part of the time"),
        _("The collector runs more often the more is allocated."),
        _("Allocate less in hot paths, or raise --max-semi-space-size."),
        FramePattern(r"/^\(garbage collector\)$|^Garbage Collection$/"),
        types=CPU_OR_WALL,
        min_share=0.1,
    ),
    WasteRule(
        "node-sync-files",
        Language.NODE,
        _("Files are read and written synchronously"),
        _("The event loop stands still while a synchronous call waits for the disk."),
        _("Use fs.promises while requests run; synchronous calls at the start only."),
        FramePattern(
            r"/^(.*[.:])?(readFileSync|writeFileSync|existsSync|statSync|readdirSync|appendFileSync)$/"
        ),
        types=CPU_OR_WALL,
    ),
    WasteRule(
        "node-sync-crypto",
        Language.NODE,
        _("Keys are derived synchronously"),
        _("pbkdf2Sync and scryptSync stop the event loop for the whole derivation."),
        _("Use the asynchronous form, which runs in the thread pool."),
        FramePattern(
            r"/^(.*[.:])?(pbkdf2Sync|scryptSync|hashSync|compareSync|generateKeyPairSync)$/"
        ),
        types=CPU_OR_WALL,
    ),
    WasteRule(
        "node-sync-zlib",
        Language.NODE,
        _("Data are compressed synchronously"),
        _("The event loop stands still while gzipSync and its like run."),
        _("Use the asynchronous form or a stream."),
        FramePattern(
            r"/^(.*[.:])?(zlibBufferSync|processChunkSync|syncBufferWrapper"
            r"|gzipSync|gunzipSync|deflateSync|inflateSync)$/"
        ),
        types=CPU_OR_WALL,
    ),
)
