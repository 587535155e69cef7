package kube

import (
	"bytes"
	stdx509 "crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/siderolabs/crypto/x509"
)

// certificateLife is longer than any lab runs.
const certificateLife = 365 * 24 * time.Hour

// issue signs a certificate and makes its key.
func issue(caCert, caKey []byte, name string, usage []stdx509.ExtKeyUsage, addresses []net.IP, names []string) (*x509.PEMEncodedCertificateAndKey, error) {
	ca, err := x509.NewCertificateAuthorityFromCertificateAndKey(&x509.PEMEncodedCertificateAndKey{Crt: caCert, Key: caKey})
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority for %q: %w", name, err)
	}
	pair, err := x509.NewKeyPair(ca,
		x509.CommonName(name),
		x509.IPAddresses(addresses),
		x509.DNSNames(names),
		x509.KeyUsage(stdx509.KeyUsageDigitalSignature|stdx509.KeyUsageKeyEncipherment),
		x509.ExtKeyUsage(usage),
		x509.NotAfter(time.Now().Add(certificateLife)),
	)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate for %q: %w", name, err)
	}
	return x509.NewCertificateAndKeyFromKeyPair(pair), nil
}

// joinServing issues one serving certificate with the names and addresses of all of these, so that one process can serve for several nodes.
func joinServing(caCert, caKey []byte, certs [][]byte) (*x509.PEMEncodedCertificateAndKey, error) {
	var addresses []net.IP
	var names []string
	common := ""
	for _, data := range certs {
		cert, err := parseCertificate(data)
		if err != nil {
			return nil, err
		}
		common = cert.Subject.CommonName
		for _, address := range cert.IPAddresses {
			if !slices.ContainsFunc(addresses, address.Equal) {
				addresses = append(addresses, address)
			}
		}
		for _, name := range cert.DNSNames {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return issue(caCert, caKey, common, []stdx509.ExtKeyUsage{stdx509.ExtKeyUsageServerAuth}, addresses, names)
}

func parseCertificate(data []byte) (*stdx509.Certificate, error) {
	block, _ := pem.Decode(bytes.TrimSpace(data))
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("no PEM certificate in %d bytes", len(data))
	}
	return stdx509.ParseCertificate(block.Bytes)
}
