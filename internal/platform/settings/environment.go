package settings

import (
	"regexp"
	"slices"
	"strings"

	"watchmark/internal/platform/reason"
	"watchmark/internal/platform/secret"
)

// envPrefix begins the name of every environment variable of the service.
const envPrefix = "WATCHMARK_"

// otherVariables are read by other parts of the service, or by its tests.
var otherVariables = []string{
	"WATCHMARK_CONFIG", "WATCHMARK_CONTAINER", "WATCHMARK_DATA", "WATCHMARK_REQUIRE_BROWSER", "WATCHMARK_REQUIRE_POSTGRES", "WATCHMARK_SCREENSHOTS",
	"WATCHMARK_TEST_DATABASE", "WATCHMARK_TEST_DUMP", secret.KeyEnv,
}

// serviceLink matches the variables that Kubernetes and Docker set on their own
// in every container beside a service named watchmark.
var serviceLink = regexp.MustCompile(`^WATCHMARK_(NAME|PORT|PORT_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?|SERVICE_(HOST|PORT)(_\w+)?)$`)

// env is the environment variable of o, such as WATCHMARK_CATALOG_API_URL.
func (o *option) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(o.path, ".", "_"))
}

// readEnvironment reads the keys set in environ ("NAME=value"). An empty
// variable counts as not set: container files often pass unset ones so. A
// WATCHMARK_ variable that nothing reads is refused, for it is a misspelling.
func readEnvironment(environ []string) (map[string]any, Errors) {
	byName := map[string]option{}
	names := slices.Clone(otherVariables)
	for _, o := range options() {
		byName[o.env()] = o
		names = append(names, o.env())
	}
	slices.Sort(names)

	values := map[string]any{}
	var errs Errors
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(otherVariables, name) || serviceLink.MatchString(name) {
			continue
		}
		o, ok := byName[name]
		if !ok {
			e := &reason.FieldError{Field: shown(name), Where: "environment", What: unknownVariable.With()}
			if near, found := nearest(name, names); found {
				e.What = unknownVariableNear.With(near)
			}
			errs = append(errs, e)
			continue
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		value, err := o.parseText(text)
		if err != nil {
			errs = append(errs, &reason.FieldError{Field: o.path, Where: "environment variable " + name, What: reason.Of(err)})
			continue
		}
		values[o.path] = value
	}
	return values, errs.byKey()
}

// readFlags reads the keys set on the command line, by path.
func readFlags(flags map[string]string) (map[string]any, Errors) {
	known := options()
	values := map[string]any{}
	var errs Errors
	for path, text := range flags {
		o, ok := known[path]
		if !ok {
			panic("settings: a command line flag sets " + path + ", which is no key")
		}
		value, err := o.parseText(text)
		if err != nil {
			errs = append(errs, &reason.FieldError{Field: path, Where: "command line", What: reason.Of(err)})
			continue
		}
		values[path] = value
	}
	return values, errs.byKey()
}
