"""Rules for Go."""

from django.utils.translation import gettext_lazy as _

from insights.rule import ALLOCATIONS, LOCK_WAITS, WAITING_RATE, Language, WasteRule
from profiles.query import FramePattern

RULES = (
    WasteRule(
        "go-gc",
        Language.GO,
        _("Garbage collection takes a large part of the time"),
        _("Marking costs CPU in proportion to the rate of allocation and the size of live data."),
        _(
            "Allocate less (see the profile type Alloc), or raise GOGC or GOMEMLIMIT if there is"
            " memory to spare."
        ),
        FramePattern(r"/^runtime\.(gcBgMarkWorker|gcAssistAlloc|bgsweep|gcStart)$/"),
        min_share=0.1,
    ),
    WasteRule(
        "go-allocation",
        Language.GO,
        _("Allocation takes a large part of the time"),
        _("Each object that escapes to the heap is allocated, zeroed and collected later."),
        _(
            "Reuse buffers (sync.Pool), give slices and maps their capacity, and"
            " avoid interfaces in loops."
        ),
        FramePattern(r"/^runtime\.(mallocgc|newobject|makeslice|growslice)$/"),
        min_share=0.1,
    ),
    WasteRule(
        "go-map-growth",
        Language.GO,
        _("Maps grow again and again"),
        _("A map that outgrows its tables moves all of its entries."),
        _("Give make(map[K]V, n) the number of entries, or clear and reuse the map."),
        FramePattern(
            r"/^runtime\.(hashGrow|growWork|evacuate)"
            r"|^internal/runtime/maps\.\(\*(table|Map)\)\.(grow|rehash|split|growToTable)$/"
        ),
    ),
    WasteRule(
        "go-json-reflection",
        Language.GO,
        _("encoding/json takes a large part of the time"),
        _("It encodes and decodes by reflection, value by value."),
        _(
            "Use generated code (easyjson), encoding/json/v2, sonic or"
            " segmentio/encoding; decode into structs."
        ),
        FramePattern(r"/^encoding/json\./"),
        min_share=0.05,
    ),
    WasteRule(
        "go-regexp-compile",
        Language.GO,
        _("Regular expressions are compiled again and again"),
        _("regexp.Compile in a function parses and compiles the pattern at each call."),
        _("Compile patterns once, in package variables with regexp.MustCompile."),
        FramePattern(r"/^regexp\.(compile|Compile|MustCompile|CompilePOSIX)$/"),
    ),
    WasteRule(
        "go-memmove",
        Language.GO,
        _("Copying memory takes a large part of the time"),
        _(
            "Large values are copied: growing slices, strings that are"
            " concatenated, structs by value."
        ),
        _("Give slices their capacity, use strings.Builder, and pass large structs by pointer."),
        FramePattern(r"/^runtime\.memmove$/"),
        min_share=0.05,
    ),
    WasteRule(
        "go-defer",
        Language.GO,
        _("Deferred calls are allocated on the heap"),
        _("A defer in a loop cannot be placed on the stack, and runs when the function ends."),
        _("Put the body of the loop into a function of its own."),
        FramePattern(r"/^runtime\.deferproc$/"),
        min_share=0.01,
    ),
    WasteRule(
        "go-tls-handshake",
        Language.GO,
        _("TLS connections are opened for single requests"),
        _("Each handshake costs both sides CPU time and two round trips."),
        _("Share one http.Client, read bodies to their end, and raise MaxIdleConnsPerHost."),
        FramePattern(
            r"/^crypto/tls\.\(\*Conn\)\.(handshakeContext|clientHandshake|serverHandshake)$/"
        ),
    ),
    WasteRule(
        "go-reflect-fmt",
        Language.GO,
        _("Formatting with fmt takes time in a hot path"),
        _("fmt.Sprintf parses its format and inspects each value by reflection."),
        _("Use strconv and append functions there."),
        FramePattern(r"/^fmt\.(Sprintf|Sprint|Sprintln|Fprintf|Errorf)$/"),
        min_share=0.05,
    ),
    WasteRule(
        "go-lock-waits",
        Language.GO,
        _("Goroutines wait for locks"),
        _("One goroutine holds a mutex for so long, or so often, that others wait for it."),
        _(
            "Do less while the mutex is held, use one for each part of the data, sync.Map or an"
            " atomic value for what is mostly read."
        ),
        FramePattern(r"/^sync\.\(\*(Mutex|RWMutex)\)\.(Unlock|RUnlock|Lock|RLock)$/"),
        types=LOCK_WAITS,
        min_rate=WAITING_RATE,
    ),
    WasteRule(
        "go-buffer-growth",
        Language.GO,
        _("Buffers grow again and again"),
        _("A buffer that is too small is allocated anew, at twice the size, and copied."),
        _(
            "Give buffers their size (bytes.Buffer.Grow, strings.Builder.Grow), reuse them"
            " (sync.Pool), and decode from the reader instead of io.ReadAll."
        ),
        FramePattern(r"/^bytes\.growSlice$|^strings\.\(\*Builder\)\.Write\w*$|^io\.ReadAll$/"),
        types=ALLOCATIONS,
        min_share=0.1,
        min_rate=10e6,  # bytes a second
    ),
)
