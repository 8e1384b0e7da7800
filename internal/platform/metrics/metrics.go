// Package metrics counts what happens, and writes it in the text format that Prometheus
// reads (version 0.0.4). Zero values are ready to use, so that a package counts without
// being told where to.
//
// Whoever counts chooses labels that take few values: every combination is kept for ever.
package metrics

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Counter is a number for each combination of labels; it only grows.
type Counter struct {
	mu     sync.Mutex
	counts map[string]*Sample
}

// Add adds n, which is not negative, to the count of labels.
func (c *Counter) Add(n float64, labels ...string) {
	key := strings.Join(labels, "\x00")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]*Sample{}
	}
	s := c.counts[key]
	if s == nil {
		s = &Sample{Labels: slices.Clone(labels)}
		c.counts[key] = s
	}
	s.Value += n
}

// Begin has a count of every combination of labels, of each of which all values are given, there from the start: of
// one that appears with its first event, Prometheus tells no increase.
func (c *Counter) Begin(values ...[]string) {
	combinations := [][]string{nil}
	for _, of := range values {
		var longer [][]string
		for _, begun := range combinations {
			for _, value := range of {
				longer = append(longer, append(slices.Clone(begun), value))
			}
		}
		combinations = longer
	}
	for _, labels := range combinations {
		c.Add(0, labels...)
	}
}

// Samples are the counts, in the order of their labels.
func (c *Counter) Samples() []Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	samples := make([]Sample, 0, len(c.counts))
	for _, s := range c.counts {
		samples = append(samples, *s)
	}
	slices.SortFunc(samples, func(a, b Sample) int { return slices.Compare(a.Labels, b.Labels) })
	return samples
}

// bounds are those of a Histogram, in seconds: from a look into memory to a request that ran into its timeout.
var bounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}

// Histogram counts how long something took.
type Histogram struct {
	mu      sync.Mutex
	buckets [len(bounds) + 1]uint64 // one for each bound, and one for what is longer
	sum     float64
}

// Observe adds one duration, in seconds.
func (h *Histogram) Observe(seconds float64) {
	i, _ := slices.BinarySearch(bounds[:], seconds)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buckets[i]++
	h.sum += seconds
}

// Kind is the type of a Family.
type Kind string

// The types.
const (
	IsCounter   Kind = "counter"
	IsGauge     Kind = "gauge"
	isHistogram Kind = "histogram"
)

// Sample is one value.
type Sample struct {
	Labels []string // values, in the order of Family.Labels
	Value  float64
}

// Family is a metric with all its samples.
type Family struct {
	Name, Help string
	Kind       Kind
	Labels     []string // names
	Samples    []Sample
	// Histogram stands in place of Kind, Labels and Samples.
	Histogram *Histogram
}

// Write writes families in their order.
func Write(to io.Writer, families []Family) error {
	w := bufio.NewWriter(to)
	for _, f := range families {
		if f.Histogram != nil {
			f.Kind = isHistogram
		}
		_, _ = w.WriteString("# HELP " + f.Name + " " + helpText.Replace(f.Help) + "\n# TYPE " + f.Name + " " + string(f.Kind) + "\n")
		if f.Histogram != nil {
			f.Histogram.write(w, f.Name)
		}
		for _, s := range f.Samples {
			line(w, f.Name, f.Labels, s.Labels, s.Value)
		}
	}
	return w.Flush() // tells of every failure before it
}

func (h *Histogram) write(w *bufio.Writer, name string) {
	h.mu.Lock()
	buckets, sum := h.buckets, h.sum
	h.mu.Unlock()
	total := uint64(0)
	for i, n := range buckets {
		total += n
		bound := math.Inf(1)
		if i < len(bounds) {
			bound = bounds[i]
		}
		line(w, name+"_bucket", []string{"le"}, []string{number(bound)}, float64(total))
	}
	line(w, name+"_sum", nil, nil, sum)
	line(w, name+"_count", nil, nil, float64(total))
}

// The texts of help and of label values escape what ends them.
var (
	helpText  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func line(w *bufio.Writer, name string, names, values []string, value float64) {
	_, _ = w.WriteString(name)
	for i, label := range names {
		opening := ","
		if i == 0 {
			opening = "{"
		}
		_, _ = w.WriteString(opening + label + `="` + labelText.Replace(values[i]) + `"`)
	}
	if len(names) > 0 {
		_ = w.WriteByte('}')
	}
	_, _ = w.WriteString(" " + number(value) + "\n")
}

// number is v as Prometheus reads it.
func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
