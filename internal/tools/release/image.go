package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// imageName is what the image is called where an archive of it was loaded.
const imageName = "watchmark:latest"

// image is the container of one platform: the program and nothing else, no shell, no packages. Certificates
// and time zones are inside it.
type image struct {
	arch, variant string // as Docker names processors
	layer         []byte // a compressed tar archive
	config        []byte // JSON, which is a config of the OCI and of Docker
	at            time.Time
}

// newImage starts as root, gives PUID and PGID the data folder, and becomes them before it does anything else.
func newImage(p platform, program []byte, src source) (image, error) {
	unpacked, err := tarball(src.at, entry{"data/", 0o755, nil}, entry{"watchmark", 0o755, program})
	if err != nil {
		return image{}, err
	}
	layer, err := gzipped(unpacked)
	if err != nil {
		return image{}, err
	}
	img := image{layer: layer, at: src.at}
	img.arch, img.variant, _ = strings.Cut(p.docker, "/")
	type none struct{}
	config := map[string]any{
		"created":      src.at.UTC().Format(time.RFC3339),
		"architecture": img.arch,
		"os":           "linux",
		"config": map[string]any{
			"Env":          []string{"PUID=1000", "PGID=1000", "WATCHMARK_CONTAINER=true", "WATCHMARK_DATA=/data", "WATCHMARK_SERVER_LISTEN=0.0.0.0:8787"},
			"Entrypoint":   []string{"/watchmark"},
			"Cmd":          []string{"serve"},
			"WorkingDir":   "/data",
			"Volumes":      map[string]none{"/data": {}},
			"ExposedPorts": map[string]none{"8787/tcp": {}},
			"Healthcheck": map[string]any{
				"Test": []string{"CMD", "/watchmark", "health"}, "Interval": 30 * time.Second, "Timeout": 10 * time.Second, "StartPeriod": time.Minute,
			},
			"Labels": map[string]string{
				"org.opencontainers.image.title":       "Watchmark",
				"org.opencontainers.image.description": "Marks what you watch on Plex, Emby, Jellyfin and others on your anime list",
				"org.opencontainers.image.licenses":    "MIT",
				"org.opencontainers.image.version":     src.version,
				"org.opencontainers.image.revision":    src.commit,
			},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{digest(unpacked)}},
		"history": []map[string]string{{"created": src.at.UTC().Format(time.RFC3339), "created_by": "watchmark " + src.version}},
	}
	if img.variant != "" {
		config["variant"] = img.variant
	}
	img.config, err = json.Marshal(config)
	return img, err
}

// dockerArchive is the image as "docker save" writes it, with its health check, which images of the OCI
// lack for Podman. The layer is compressed, not the archive: skopeo and Podman of Debian 12 cannot read that.
func (img image) dockerArchive() ([]byte, error) {
	config := strings.TrimPrefix(digest(img.config), "sha256:") + ".json"
	manifest, err := json.Marshal([]map[string]any{{"Config": config, "RepoTags": []string{imageName}, "Layers": []string{"layer.tar.gz"}}})
	if err != nil {
		return nil, err
	}
	return tarball(img.at, entry{"manifest.json", 0o644, manifest}, entry{config, 0o644, img.config}, entry{"layer.tar.gz", 0o644, img.layer})
}

// descriptor points at a blob of an image layout of the OCI.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    map[string]string `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// The media types of https://github.com/opencontainers/image-spec/blob/main/media-types.md
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// ociArchive is one image for all the platforms of images, as an archive of an image layout of the OCI.
func ociArchive(at time.Time, images []image) ([]byte, error) {
	blobs := map[string][]byte{}
	blob := func(mediaType string, content []byte) descriptor {
		blobs["blobs/sha256/"+strings.TrimPrefix(digest(content), "sha256:")] = content
		return descriptor{MediaType: mediaType, Digest: digest(content), Size: len(content)}
	}
	index := func(manifests ...descriptor) ([]byte, error) {
		return json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": manifests})
	}
	var manifests []descriptor
	for _, img := range images {
		content, err := json.Marshal(map[string]any{
			"schemaVersion": 2, "mediaType": typeManifest, "config": blob(typeConfig, img.config), "layers": []descriptor{blob(typeLayer, img.layer)},
		})
		if err != nil {
			return nil, err
		}
		manifest := blob(typeManifest, content)
		manifest.Platform = map[string]string{"os": "linux", "architecture": img.arch}
		if img.variant != "" {
			manifest.Platform["variant"] = img.variant
		}
		manifests = append(manifests, manifest)
	}
	all, err := index(manifests...)
	if err != nil {
		return nil, err
	}
	top := blob(typeIndex, all)
	// Docker reads the first name, Podman and skopeo the second, if there is no first.
	top.Annotations = map[string]string{"io.containerd.image.name": "docker.io/library/" + imageName, "org.opencontainers.image.ref.name": "latest"}
	first, err := index(top)
	if err != nil {
		return nil, err
	}
	entries := []entry{{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {"index.json", 0o644, first}, {"blobs/", 0o755, nil}, {"blobs/sha256/", 0o755, nil}}
	for _, name := range slices.Sorted(maps.Keys(blobs)) {
		entries = append(entries, entry{name, 0o644, blobs[name]})
	}
	return tarball(at, entries...)
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }
