package proxmox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"time"
)

// newCertificate creates a self-signed certificate.
func newCertificate(hosts []string, address netip.Addr) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("the key of the Proxmox API: %w", err)
	}
	begin := time.Now().Add(-time.Hour)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(begin.UnixNano()),
		Subject:      pkix.Name{CommonName: hosts[0], Organization: []string{"Proxmox Virtual Environment"}, OrganizationalUnit: []string{"PVE Cluster Node"}},
		NotBefore:    begin, NotAfter: begin.AddDate(2, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: append([]string{"localhost"}, hosts...), IPAddresses: []net.IP{address.AsSlice()},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("the certificate of the Proxmox API: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: key}, nil
}

// fingerprint identifies a certificate to users.
func fingerprint(of tls.Certificate) string {
	sum := sha256.Sum256(of.Certificate[0])
	parts := make([]string, len(sum))
	for i, one := range sum {
		parts[i] = fmt.Sprintf("%02X", one)
	}
	return strings.Join(parts, ":")
}
