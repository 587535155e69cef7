// Package sshkey is the SSH keys of a project. Nothing logs in with them: they exist because requests for servers and for the rescue system name them.
package sshkey

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/api"
	"github.com/siderolabs/talos/internal/app/machined/sluicelab/hetzner/project"
)

type key struct {
	project.Record
	public, fingerprint string
}

func (k *key) view() schema.SSHKey {
	return schema.SSHKey{ID: k.ID, Name: k.Name, Fingerprint: k.fingerprint, PublicKey: k.public, Labels: k.LabelsOf(), Created: k.Created}
}

// Keys are the SSH keys of a project.
type Keys struct{ registry *project.Registry[*key] }

// New returns a project without SSH keys.
func New(in *project.Project) *Keys {
	return &Keys{registry: project.NewRegistry[*key](in, "ssh_key")}
}

// Check returns an error if one of these ids belongs to no key.
func (s *Keys) Check(ids []int64) error {
	_, err := s.registry.GetAll(ids)
	return err
}

// Routes returns the routes of SSH keys.
func (s *Keys) Routes() api.Routes {
	return api.Routes{
		"GET /ssh_keys":         s.list,
		"POST /ssh_keys":        s.create,
		"GET /ssh_keys/{id}":    project.Getter(s.registry, func(k *key) any { return schema.SSHKeyGetResponse{SSHKey: k.view()} }),
		"PUT /ssh_keys/{id}":    project.Updater(s.registry, func(k *key) any { return schema.SSHKeyUpdateResponse{SSHKey: k.view()} }),
		"DELETE /ssh_keys/{id}": s.remove,
	}
}

func (s *Keys) list(r *api.Call) (api.Reply, error) {
	keys := api.Filter(s.registry.All(), r.URL.Query()["fingerprint"], func(k *key) string { return k.fingerprint })
	return project.List(r, "ssh_keys", keys, (*key).view)
}

func (s *Keys) create(r *api.Call) (api.Reply, error) {
	var asked schema.SSHKeyCreateRequest
	if err := r.Decode(&asked); err != nil {
		return api.Reply{}, err
	}
	print, err := fingerprint(asked.PublicKey)
	if err != nil {
		return api.Reply{}, api.Invalid("public_key", "%s", err)
	}
	if slices.ContainsFunc(s.registry.All(), func(k *key) bool { return k.fingerprint == print }) {
		return api.Reply{}, api.NotUnique("public_key", "SSH key with the same fingerprint already exists")
	}
	record, err := s.registry.NewRecord(asked.Name, asked.Labels)
	if err != nil {
		return api.Reply{}, err
	}
	made := &key{Record: record, public: asked.PublicKey, fingerprint: print}
	s.registry.Add(made)
	return api.Created(schema.SSHKeyCreateResponse{SSHKey: made.view()})
}

func (s *Keys) remove(r *api.Call) (api.Reply, error) {
	found, err := project.Find(r, s.registry)
	if err != nil {
		return api.Reply{}, err
	}
	s.registry.Remove(found)
	return api.NoContent()
}

// fingerprint returns the MD5 of a key in the format of authorized_keys.
func fingerprint(publicKey string) (string, error) {
	fields := strings.Fields(publicKey)
	if len(fields) < 2 {
		return "", errors.New("has no key")
	}
	blob, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return "", errors.New("is not base64")
	}
	// The blob starts with the length and the name of its algorithm.
	if len(blob) < 4 || !bytes.HasPrefix(blob[4:], []byte(fields[0])) || int(binary.BigEndian.Uint32(blob)) != len(fields[0]) {
		return "", errors.New("is not of the type that it states")
	}
	sum := md5.Sum(blob)
	pairs := make([]string, 0, len(sum))
	for _, one := range sum {
		pairs = append(pairs, hex.EncodeToString([]byte{one}))
	}
	return strings.Join(pairs, ":"), nil
}
