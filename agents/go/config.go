package flamewatch

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Config holds the settings of an agent. An empty field takes its value from the environment.
type Config struct {
	Service string // FLAMEWATCH_SERVICE, K_SERVICE, GAE_SERVICE or OTEL_SERVICE_NAME
	Version string // FLAMEWATCH_VERSION, K_REVISION or GAE_VERSION
	Zone    string // FLAMEWATCH_ZONE

	URL     string // FLAMEWATCH_URL: address of the server
	Key     string // FLAMEWATCH_KEY: API key with the scope write
	Project string // FLAMEWATCH_PROJECT; optional: the key determines the project

	Types  []Type       // types to offer; default: all
	Logger *slog.Logger // default: slog.Default()

	// MutexFraction is the number of contention events of which one is sampled from Start to Stop, unless the
	// program sets a fraction of its own; default: FLAMEWATCH_MUTEX_FRACTION or 10. Negative, or 0 in the
	// environment: none is, and CONTENTION is offered only if the program sets a fraction.
	MutexFraction int
}

// Type is a profile type of Cloud Profiler's API.
type Type string

// Profile types that the agent captures.
const (
	CPU        Type = "CPU"
	Wall       Type = "WALL"
	Heap       Type = "HEAP"
	HeapAlloc  Type = "HEAP_ALLOC"
	Contention Type = "CONTENTION"
	Threads    Type = "THREADS"
)

var allTypes = []Type{CPU, Wall, Heap, HeapAlloc, Contention, Threads}

const (
	ownProject   = "-" // the project that the key belongs to
	longestLabel = 512 // bytes
	longestKey   = 4096

	defaultMutexFraction = 10
	noMutexFraction      = -1
)

var (
	validService = regexp.MustCompile(`^[a-z0-9]([-a-z0-9_.]{0,253}[a-z0-9])?$`)
	validProject = regexp.MustCompile(`^([a-z0-9][-a-z0-9.:]{0,127}|-)$`)
	validKey     = regexp.MustCompile(`^[!-~]{8,}$`)
	notInService = regexp.MustCompile(`[^a-z0-9_.-]+`)
)

// complete returns the configuration with the values of the environment, or all of its errors.
// No message contains the key.
func complete(config Config, env func(string) string) (Config, error) {
	config.Service = first(config.Service, env("FLAMEWATCH_SERVICE"))
	if config.Service == "" { // names of other tools are changed to the syntax of service names
		foreign := first(env("K_SERVICE"), env("GAE_SERVICE"), env("OTEL_SERVICE_NAME"))
		config.Service = nearestService(foreign)
	}
	config.Version = first(config.Version, env("FLAMEWATCH_VERSION"), env("K_REVISION"), env("GAE_VERSION"))
	config.Zone = first(config.Zone, env("FLAMEWATCH_ZONE"))
	config.URL = strings.TrimRight(first(config.URL, env("FLAMEWATCH_URL")), "/")
	config.Key = first(config.Key, env("FLAMEWATCH_KEY"))
	config.Project = first(config.Project, env("FLAMEWATCH_PROJECT"), ownProject)
	fractionErr := completeMutexFraction(&config, env("FLAMEWATCH_MUTEX_FRACTION"))
	if config.Types == nil {
		config.Types = allTypes
	}
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	return config, errors.Join(
		keyProblem(config.Key),
		urlProblem(config.URL),
		serviceProblem(config.Service),
		projectProblem(config.Project),
		labelProblem("version", config.Version),
		labelProblem("zone", config.Zone),
		typesProblem(config.Types),
		fractionErr,
	)
}

func completeMutexFraction(config *Config, text string) error {
	if config.MutexFraction != 0 {
		return nil
	}
	config.MutexFraction = defaultMutexFraction
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	fraction, err := strconv.Atoi(text)
	if err != nil || fraction < 0 {
		return fmt.Errorf("invalid FLAMEWATCH_MUTEX_FRACTION %.80q: use a whole number, 0 to turn it off", text)
	}
	if config.MutexFraction = fraction; fraction == 0 {
		config.MutexFraction = noMutexFraction
	}
	return nil
}

func first(texts ...string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

func nearestService(name string) string {
	name = notInService.ReplaceAllString(strings.ToLower(name), "-")
	if len(name) > 255 {
		name = name[:255]
	}
	return strings.Trim(name, "-_.")
}

func keyProblem(key string) error {
	if key == "" {
		return errors.New("no API key: set FLAMEWATCH_KEY or Config.Key")
	}
	if len(key) > longestKey || !validKey.MatchString(key) {
		return errors.New("invalid API key (FLAMEWATCH_KEY or Config.Key): wrong characters or length")
	}
	return nil
}

func urlProblem(address string) error {
	if address == "" {
		return errors.New("no server address: set FLAMEWATCH_URL or Config.URL")
	}
	parsed, err := url.Parse(address)
	web := err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https")
	if !web || parsed.Hostname() == "" || parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		// The address is not repeated: it may contain a password.
		return errors.New("invalid server address (FLAMEWATCH_URL or Config.URL): use https://HOST or https://HOST:PORT, optionally with a path")
	}
	return nil
}

func serviceProblem(service string) error {
	if service == "" {
		return errors.New("no service name: set FLAMEWATCH_SERVICE or Config.Service")
	}
	if validService.MatchString(service) {
		return nil
	}
	example := ""
	if near := nearestService(service); near != "" {
		example = fmt.Sprintf(", for example %q", near)
	}
	return fmt.Errorf("invalid service name %.80q: use lower-case letters, digits, '-', '_' and '.', at most 255%s", service, example)
}

func projectProblem(project string) error {
	if validProject.MatchString(project) {
		return nil
	}
	return fmt.Errorf("invalid project id %.80q: omit it, the API key identifies the project", project)
}

func labelProblem(name, value string) error {
	if strings.ContainsFunc(value, unicode.IsControl) {
		return fmt.Errorf("the %s contains a control character", name)
	}
	if len(value) > longestLabel {
		return fmt.Errorf("the %s has %d bytes; the limit is %d", name, len(value), longestLabel)
	}
	return nil
}

func typesProblem(types []Type) error {
	known := map[Type]bool{}
	for _, each := range allTypes {
		known[each] = true
	}
	for _, each := range types {
		if !known[each] {
			return fmt.Errorf("unknown profile type %.80q in Config.Types", each)
		}
	}
	if len(types) == 0 {
		return errors.New("Config.Types is empty")
	}
	return nil
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "unknown"
	}
	printable := func(letter rune) rune {
		if letter < '!' || letter > '~' {
			return '-'
		}
		return letter
	}
	name = strings.Map(printable, name)
	return name[:min(len(name), 255)]
}
