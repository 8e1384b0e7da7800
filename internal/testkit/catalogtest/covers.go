package catalogtest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"watchmark/internal/catalog"
)

// imageHost is where the API says that images are, whatever address the simulator has.
const imageHost = "https://lain.bgm.tv"

// widths are those to which the image host makes covers smaller; it refuses others.
var widths = []int{100, 200, 400, 600, 800, 1200}

// fullWidth is how wide the covers here are.
const fullWidth = 600

// coverless is the subject of the sample that has no cover.
const coverless catalog.SubjectID = 900007

// coverPath is where the sample's cover of a subject is kept.
func coverPath(id catalog.SubjectID) string {
	return fmt.Sprintf("%02x/%02x/%d_sample.jpg", byte(id*37), byte(id*91), id)
}

// addSampleCovers gives a cover to the subjects of the sample. The caller holds mu.
func (d *data) addSampleCovers() {
	for id, subject := range d.subjects {
		if id >= 900001 && id != coverless && subject.Image == "" {
			with := *subject // who holds the old one keeps it
			with.Image = coverPath(id)
			d.subjects[id] = &with
		}
	}
}

// imagesOf are the addresses of a cover in all sizes, as /v0 tells them; empty texts when there is none.
func imagesOf(cover string) images {
	if cover == "" {
		return images{}
	}
	sized := func(width string) string { return imageHost + "/r/" + width + "/pic/cover/l/" + cover }
	return images{Large: imageHost + "/pic/cover/l/" + cover, Common: sized("400"), Medium: sized("800"), Small: sized("200"), Grid: sized("100")}
}

// legacyImagesOf are the addresses as the legacy API tells them.
func legacyImagesOf(cover string) images {
	if cover == "" {
		return images{}
	}
	kind := func(letter string) string {
		return strings.Replace(imageHost, "https:", "http:", 1) + "/pic/cover/" + letter + "/" + cover
	}
	return images{Large: kind("l"), Common: kind("c"), Medium: kind("m"), Small: kind("s"), Grid: kind("g")}
}

// routeImages registers what the image host serves. It has no rules about tokens and user agents.
func (s *Server) routeImages() {
	s.mux.HandleFunc("GET /pic/cover/{size}/{file...}", func(w http.ResponseWriter, r *http.Request) {
		s.image(w, r, fullWidth)
	})
	s.mux.HandleFunc("GET /r/{width}/pic/cover/{size}/{file...}", func(w http.ResponseWriter, r *http.Request) {
		width, err := strconv.Atoi(r.PathValue("width"))
		if err != nil || !slices.Contains(widths, width) {
			http.Error(w, "invalid size format", http.StatusBadRequest)
			return
		}
		s.image(w, r, min(width, fullWidth))
	})
}

// image answers the cover at the path asked for.
func (s *Server) image(w http.ResponseWriter, r *http.Request, width int) {
	file := r.PathValue("file")
	number, _, _ := strings.Cut(path.Base(file), "_")
	id, _ := strconv.Atoi(number) // what is no number is no subject
	subject, known := s.data.subject(catalog.SubjectID(id))
	if !known || subject.Image != file {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Cache-Control", "public, max-age=2592000")
	_, _ = w.Write(DrawCover(subject.ID, width)) // a reader that went away needs no image
}

// DrawCover is the image that the simulator serves: it draws hills below a moon, in colours of
// the subject's own, as a JPEG of a width in pixels.
func DrawCover(id catalog.SubjectID, width int) []byte {
	height := width * 141 / 100
	dice := float64(uint32(id)*2654435761>>8) / (1 << 24)
	sky, ground := 2*math.Pi*dice, 2*math.Pi*(dice+.12)
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			u, v := float64(x)/float64(width), float64(y)/float64(height)
			shade := hue(sky, .55+.4*v)
			if math.Hypot(u-.25-.5*dice, (v-.28)*1.41) < .13 {
				shade = color.RGBA{250, 244, 224, 255}
			}
			for hill := range 3 {
				depth := float64(hill)
				if v > .58+.13*depth+.06*math.Sin(4*u+7*dice+2.1*depth) {
					shade = hue(ground, .62-.2*depth)
				}
			}
			picture.SetRGBA(x, y, shade)
		}
	}
	var file bytes.Buffer
	_ = jpeg.Encode(&file, picture, &jpeg.Options{Quality: 82}) // a buffer takes everything
	return file.Bytes()
}

// hue is a soft colour at an angle of the colour wheel, of a brightness 0..1.
func hue(angle, brightness float64) color.RGBA {
	part := func(shift float64) uint8 {
		return uint8(255 * min(1, max(0, brightness*(.72+.28*math.Cos(angle-shift)))))
	}
	return color.RGBA{part(0), part(2 * math.Pi / 3), part(4 * math.Pi / 3), 255}
}
