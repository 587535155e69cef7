package hetzner

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
)

// sshKey is a person's public key.
type sshKey struct {
	record
	publicKey, fingerprint string
}

// fingerprint is the MD5 of a key in the form of an authorized_keys line.
func fingerprint(publicKey string) (string, error) {
	fields := strings.Fields(publicKey)
	if len(fields) < 2 {
		return "", errors.New("has no key")
	}
	blob, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return "", errors.New("is not base64")
	}
	// The blob begins with the length and the name of its algorithm.
	if len(blob) < 4 || !bytes.HasPrefix(blob[4:], []byte(fields[0])) || int(binary.BigEndian.Uint32(blob)) != len(fields[0]) {
		return "", errors.New("is not of the type that it says")
	}
	sum := md5.Sum(blob)
	pairs := make([]string, 0, len(sum))
	for _, one := range sum {
		pairs = append(pairs, hex.EncodeToString([]byte{one}))
	}
	return strings.Join(pairs, ":"), nil
}

func (k *sshKey) view() schema.SSHKey {
	return schema.SSHKey{ID: k.id, Name: k.name, Fingerprint: k.fingerprint, PublicKey: k.publicKey, Labels: labelled(k.labels), Created: k.created}
}

func (c *Cloud) sshKeyRoutes() map[string]handler {
	return map[string]handler{
		"GET /ssh_keys":         c.listSSHKeys,
		"POST /ssh_keys":        c.createSSHKey,
		"GET /ssh_keys/{id}":    c.getSSHKey,
		"PUT /ssh_keys/{id}":    c.updateSSHKey,
		"DELETE /ssh_keys/{id}": c.deleteSSHKey,
	}
}

func (c *Cloud) listSSHKeys(r *call) (reply, error) {
	keys := allowed(c.sshKeys.all(), r.URL.Query()["fingerprint"], func(k *sshKey) string { return k.fingerprint })
	return list(r, "ssh_keys", keys, (*sshKey).view)
}

func (c *Cloud) createSSHKey(r *call) (reply, error) {
	var asked schema.SSHKeyCreateRequest
	if err := r.decode(&asked); err != nil {
		return reply{}, err
	}
	print, err := fingerprint(asked.PublicKey)
	if err != nil {
		return reply{}, invalid("public_key", "%s", err)
	}
	if slices.ContainsFunc(c.sshKeys.all(), func(k *sshKey) bool { return k.fingerprint == print }) {
		return reply{}, notUnique("public_key", "SSH key with the same fingerprint already exists")
	}
	made, err := enroll(c, c.sshKeys, asked.Name, asked.Labels)
	if err != nil {
		return reply{}, err
	}
	key := &sshKey{record: made, publicKey: asked.PublicKey, fingerprint: print}
	c.sshKeys.add(key)
	return created(schema.SSHKeyCreateResponse{SSHKey: key.view()})
}

func (c *Cloud) getSSHKey(r *call) (reply, error) {
	key, err := find(r, c.sshKeys)
	if err != nil {
		return reply{}, err
	}
	return answer(schema.SSHKeyGetResponse{SSHKey: key.view()})
}

func (c *Cloud) updateSSHKey(r *call) (reply, error) {
	key, asked, err := ask[schema.SSHKeyUpdateRequest](r, c.sshKeys)
	if err != nil {
		return reply{}, err
	}
	if err := c.sshKeys.change(key, asked.Name, asked.Labels); err != nil {
		return reply{}, err
	}
	return answer(schema.SSHKeyUpdateResponse{SSHKey: key.view()})
}

func (c *Cloud) deleteSSHKey(r *call) (reply, error) {
	key, err := find(r, c.sshKeys)
	if err != nil {
		return reply{}, err
	}
	c.sshKeys.remove(key)
	return nothing()
}
