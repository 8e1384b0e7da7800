package contrib_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/settings"
)

// documents are those of a YAML file, with aliases and merged keys resolved.
func documents(t *testing.T, name string) (all []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document map[string]any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, document)
	}
}

// at is what a path of keys and indexes leads to.
func at(t *testing.T, value any, path ...any) any {
	t.Helper()
	for i, step := range path {
		switch step := step.(type) {
		case string:
			object, is := value.(map[string]any)
			if value = object[step]; !is || value == nil {
				t.Fatalf("there is no %v", path[:i+1])
			}
		case int:
			list, is := value.([]any)
			if !is || step >= len(list) {
				t.Fatalf("there is no %v", path[:i+1])
			}
			value = list[step]
		}
	}
	return value
}

// TestVariablesAreThoseOfTheService holds every WATCHMARK_ variable of the samples against the settings.
func TestVariablesAreThoseOfTheService(t *testing.T) {
	t.Parallel()
	known := []string{secret.KeyEnv}
	for _, section := range settings.Describe() {
		for _, key := range section.Keys {
			known = append(known, key.Env)
		}
	}
	for _, name := range []string{"compose.yaml", "compose.postgres.yaml", "kubernetes/watchmark.yaml"} {
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		for _, variable := range regexp.MustCompile(`WATCHMARK_[A-Z_]+`).FindAllString(string(text), -1) {
			if !slices.Contains(known, variable) {
				t.Errorf("%s sets %s, which is no setting", name, variable)
			}
		}
	}
}

// TestReplicasOfCompose: each replica has a folder of its own, all have the same settings, and Caddy knows them all.
func TestReplicasOfCompose(t *testing.T) {
	t.Parallel()
	compose := documents(t, "compose.postgres.yaml")[0]
	proxy, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	replicas, folders := 0, map[string]bool{}
	for name, service := range at(t, compose, "services").(map[string]any) {
		if !strings.HasPrefix(name, "watchmark-") {
			continue
		}
		replicas++
		volume, path, _ := strings.Cut(at(t, service, "volumes", 0).(string), ":")
		if path != "/data" || folders[volume] {
			t.Errorf("%s has the folder %s at %s", name, volume, path)
		}
		folders[volume] = true
		if _, declared := at(t, compose, "volumes").(map[string]any)[volume]; !declared {
			t.Errorf("the volume %s is not declared", volume)
		}
		if at(t, service, "depends_on", "postgres", "condition") != "service_healthy" {
			t.Errorf("%s does not wait for the database", name)
		}
		if at(t, service, "environment", "WATCHMARK_SERVER_TRUSTED_PROXIES") != at(t, compose, "networks", "front", "ipam", "config", 0, "subnet") {
			t.Errorf("%s does not trust the network of Caddy", name)
		}
		if !strings.Contains(at(t, service, "environment", "WATCHMARK_DATABASE_URL").(string), "${POSTGRES_PASSWORD") {
			t.Errorf("%s does not have the password from .env", name)
		}
		at(t, service, "stop_grace_period")
		if !strings.Contains(string(proxy), name+":8787") {
			t.Errorf("Caddy does not know %s", name)
		}
	}
	if replicas != 3 {
		t.Errorf("%d replicas", replicas)
	}
	at(t, compose, "services", "postgres", "healthcheck", "test")
	for name, networks := range map[string][]any{"postgres": {"database"}, "caddy": {"front"}} { // who comes by Caddy is far from the database
		if got := at(t, compose, "services", name, "networks"); !slices.Equal(got.([]any), networks) {
			t.Errorf("%s is in the networks %v", name, got)
		}
	}
	if at(t, compose, "networks", "database", "internal") != true {
		t.Error("the network of the database leads outside")
	}
	if !strings.Contains(string(proxy), "health_uri /health\n") {
		t.Error("Caddy asks no replica whether it is ready")
	}
}

// TestManifestOfKubernetes: what points at something else in it points at what is there.
func TestManifestOfKubernetes(t *testing.T) {
	t.Parallel()
	byKind := map[string][]map[string]any{}
	for _, document := range documents(t, "kubernetes/watchmark.yaml") {
		kind := document["kind"].(string)
		byKind[kind] = append(byKind[kind], document)
	}
	if len(byKind["Service"]) != 2 || len(byKind["PodDisruptionBudget"]) != 1 || len(byKind["StatefulSet"]) != 1 {
		t.Fatalf("there is %v", byKind)
	}
	set := byKind["StatefulSet"][0]
	pod := at(t, set, "spec", "template")
	app := at(t, pod, "metadata", "labels", "app")
	for _, path := range [][]any{{"spec", "selector", "matchLabels", "app"}} {
		for _, document := range []map[string]any{set, byKind["PodDisruptionBudget"][0]} {
			if at(t, document, path...) != app {
				t.Errorf("%s selects %v", document["kind"], at(t, document, path...))
			}
		}
	}
	heads := []any{}
	for _, service := range byKind["Service"] {
		if at(t, service, "spec", "selector", "app") != app {
			t.Errorf("the service %v selects something else", at(t, service, "metadata", "name"))
		}
		heads = append(heads, at(t, service, "metadata", "name"))
	}
	if !slices.Contains(heads, at(t, set, "spec", "serviceName")) {
		t.Errorf("the set is of the service %v", at(t, set, "spec", "serviceName"))
	}
	container := at(t, pod, "spec", "containers", 0)
	for probe, path := range map[string]string{"startupProbe": "/health/live", "readinessProbe": "/health", "livenessProbe": "/health/live"} {
		if at(t, container, probe, "httpGet", "path") != path || at(t, container, probe, "httpGet", "port") != at(t, container, "ports", 0, "name") {
			t.Errorf("the %s asks %v", probe, at(t, container, probe, "httpGet"))
		}
	}
	if at(t, container, "volumeMounts", 0, "name") != at(t, set, "spec", "volumeClaimTemplates", 0, "metadata", "name") {
		t.Error("the folder is not on the volume")
	}
	if at(t, set, "spec", "replicas") != 3 {
		t.Error("there are not three replicas")
	}
}

// TestTemplateOfUnraid: the template maps what the image has, and its page is at the port that it maps.
func TestTemplateOfUnraid(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("unraid", "watchmark.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var container struct {
		Repository, WebUI, Network string
		Privileged                 bool
		Config                     []struct {
			Name    string `xml:",attr"`
			Target  string `xml:",attr"`
			Type    string `xml:",attr"`
			Default string `xml:",attr"`
			Value   string `xml:",chardata"`
		}
	}
	if err := xml.Unmarshal(text, &container); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range container.Config {
		got[c.Target] = c.Type
		if c.Name == "" || c.Value != c.Default {
			t.Errorf("%s is %q and %q when not changed", c.Target, c.Value, c.Default)
		}
	}
	if want := map[string]string{"8787": "Port", "/data": "Path", "PUID": "Variable", "PGID": "Variable"}; !maps.Equal(got, want) {
		t.Errorf("it maps %v", got)
	}
	if container.Repository != "watchmark:latest" || container.WebUI != "http://[IP]:[PORT:8787]/" || container.Network != "bridge" || container.Privileged {
		t.Errorf("it is %+v", container)
	}
}
