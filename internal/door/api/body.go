package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"watchmark/internal/platform/secret"
	"watchmark/internal/platform/task"
)

// JSON is an input or an answer with a JSON body.
type JSON[T any] struct{ Body T }

// answer is v as the JSON body; an error passes.
func answer[T any](v T, err error) (*JSON[T], error) {
	if err != nil {
		return nil, err
	}
	return &JSON[T]{v}, nil
}

// none is an input without parameters, or an answer without a body.
type none struct{}

// ByID is an input that names one row.
type ByID struct {
	ID int64 `path:"id" minimum:"1" doc:"The id." example:"1"`
}

// orNull is an object of an answer that may be null, which the library cannot describe by itself.
type orNull[T any] struct{ value *T }

// MarshalJSON writes the object or null.
func (o orNull[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.value) }

// Schema describes it.
func (orNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// orNil is t, or nil when it is zero.
func orNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// orTrue is what p points to; true when it points nowhere.
func orTrue(p *bool) bool { return p == nil || *p }

// startedTask names the task that a request began.
type startedTask struct {
	TaskID int64 `json:"task_id" doc:"Follow it at /api/tasks/{id}/stream." example:"7"`
}

// started answers the id of a task; an error passes.
func started(t *task.Task, err error) (*JSON[startedTask], error) {
	if err != nil {
		return nil, err
	}
	return answer(startedTask{t.Status().ID}, nil)
}

// statusOf answers a task as it stands; an error passes.
func statusOf(t *task.Task, err error) (*JSON[task.Status], error) {
	if err != nil {
		return nil, err
	}
	return answer(t.Status(), nil)
}

// digitCode is a code of six digits. As a number it has lost its leading zeros.
type digitCode struct{ secret.Text }

// UnmarshalJSON takes texts and whole numbers.
func (c *digitCode) UnmarshalJSON(text []byte) error {
	var number uint32
	if json.Unmarshal(text, &number) == nil && string(text) != "null" {
		c.Text = secret.Text(fmt.Sprintf("%06d", number))
		return nil
	}
	var plain string
	err := json.Unmarshal(text, &plain)
	c.Text = secret.Text(plain)
	return err
}

// Schema describes it.
func (digitCode) Schema(huma.Registry) *huma.Schema {
	longest, least, most := 100, 0.0, 999999.0
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString, MaxLength: &longest}, {Type: huma.TypeInteger, Minimum: &least, Maximum: &most}}, WriteOnly: true}
}
