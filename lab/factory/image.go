package factory

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Image is the content of an image's label.
type Image struct {
	Schematic string `json:"schematic"`
	// Version is that of Talos, without a v.
	Version  string `json:"version"`
	Platform string `json:"platform"`
	Arch     string `json:"arch"`
	// SecureBoot means that it only boots under Secure Boot.
	SecureBoot bool `json:"secureBoot,omitempty"`
	// ISO means that it boots from a CD and is not installed yet.
	ISO bool `json:"iso,omitempty"`
}

// platforms are those that images are made for.
var platforms = []string{"hcloud", "metal", "nocloud"}

// compression is a way to pack a disk image.
type compression struct {
	suffix string
	magic  []byte
	writer func(io.Writer) (io.WriteCloser, error)
	reader func(io.Reader) (io.Reader, error)
}

var compressions = []compression{
	{
		".xz", []byte("\xfd7zXZ\x00"),
		func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
		func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) },
	},
	{
		".zst", []byte("\x28\xb5\x2f\xfd"),
		func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) },
		func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r, zstd.WithDecoderConcurrency(1)) },
	},
	{
		".gz", []byte("\x1f\x8b"),
		func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	},
}

// request is an image that is requested by its file name.
type request struct {
	image   Image
	format  format
	packing *compression
}

// parseFile reads names such as "metal-amd64-secureboot.raw.xz".
func parseFile(file string) (request, error) {
	invalid := func(what, text string) (request, error) {
		return request{}, refusal{http.StatusBadRequest, fmt.Sprintf("invalid %s: %q", what, text)}
	}
	var asked request
	rest := file
	for i := range compressions {
		if cut, found := strings.CutSuffix(rest, compressions[i].suffix); found {
			rest, asked.packing = cut, &compressions[i]
			break
		}
	}
	stem, suffix, _ := strings.Cut(rest, ".")
	format, known := formats[suffix]
	if !known || format.iso && asked.packing != nil {
		return invalid("profile path", file)
	}
	asked.format = format
	stem, asked.image.SecureBoot = strings.CutSuffix(stem, "-secureboot")
	platform, arch, found := strings.Cut(stem, "-")
	if !found || !slices.Contains(platforms, platform) {
		return invalid("platform-arch", stem)
	}
	if arch != "amd64" && arch != "arm64" {
		return invalid("architecture", arch)
	}
	asked.image.Platform, asked.image.Arch, asked.image.ISO = platform, arch, format.iso
	return asked, nil
}

// encode creates the file.
func (r request) encode() ([]byte, error) {
	label, err := json.Marshal(r.image)
	if err != nil {
		return nil, err
	}
	plain := r.format.encode(label)
	if r.packing == nil {
		return plain, nil
	}
	var packed bytes.Buffer
	writer, err := r.packing.writer(&packed)
	if err != nil {
		return nil, err
	}
	_, err = writer.Write(plain)
	if err := errors.Join(err, writer.Close()); err != nil {
		return nil, fmt.Errorf("packing an image (%s): %w", r.packing.suffix, err)
	}
	return packed.Bytes(), nil
}

// ParseImage reads the label of an image of the factory, compressed or not.
func ParseImage(from io.Reader) (Image, error) {
	// Images of the lab are small; a larger file is something else.
	data, err := io.ReadAll(io.LimitReader(from, maxSize+1))
	if err != nil {
		return Image{}, fmt.Errorf("reading an image: %w", err)
	}
	for _, packing := range compressions {
		if !bytes.HasPrefix(data, packing.magic) {
			continue
		}
		reader, err := packing.reader(bytes.NewReader(data))
		if err != nil {
			return Image{}, fmt.Errorf("unpacking an image (%s): %w", packing.suffix, err)
		}
		if data, err = io.ReadAll(io.LimitReader(reader, maxSize+1)); err != nil {
			return Image{}, fmt.Errorf("unpacking an image (%s): %w", packing.suffix, err)
		}
	}
	for _, format := range formats {
		label, found := format.decode(data)
		if !found {
			continue
		}
		var image Image
		if err := json.Unmarshal(label, &image); err != nil {
			return Image{}, fmt.Errorf("reading what an image says of itself: %w", err)
		}
		return image, nil
	}
	return Image{}, errors.New("this is no image of the lab's Image Factory: it does not say what it was made from")
}
