package factory

import (
	"bytes"
	"encoding/binary"
)

// format is a disk format. Its files are as small as it allows, and empty except for the label that contains what the image was made from.
type format struct {
	iso    bool
	encode func(label []byte) []byte
	decode func(file []byte) (label []byte, found bool)
}

var formats = map[string]format{
	"raw":   {encode: encodeRaw, decode: decodeRaw},
	"iso":   {iso: true, encode: encodeISO, decode: decodeISO},
	"qcow2": {encode: encodeQCOW2, decode: decodeQCOW2},
}

const (
	sector  = 512
	maxSize = 1 << 20
	rawSize = 64 << 10
	// marker begins a label; a NUL ends it.
	marker = "sluice-lab image: "
)

// mark writes the label at a place of the file.
func mark(file []byte, at int, label []byte) {
	at += copy(file[at:], marker)
	copy(file[at:], label)
}

// marked reads what mark wrote.
func marked(file []byte, at int) ([]byte, bool) {
	if len(file) < at {
		return nil, false
	}
	rest, found := bytes.CutPrefix(file[at:], []byte(marker))
	if !found {
		return nil, false
	}
	label, _, ended := bytes.Cut(rest, []byte{0})
	return label, ended
}

// A raw disk has the boot signature of a master boot record, and the label in
// its second sector.
func encodeRaw(label []byte) []byte {
	disk := make([]byte, rawSize)
	disk[sector-2], disk[sector-1] = 0x55, 0xaa
	mark(disk, sector, label)
	return disk
}

func decodeRaw(disk []byte) ([]byte, bool) {
	return marked(disk, sector)
}

// An ISO 9660 has its volume descriptors in 2 KiB blocks from the 16th on; the label is in the part of the primary one that is for applications.
const (
	isoBlock = 2048
	isoFirst = 16 * isoBlock
	isoLabel = isoFirst + 883
)

func encodeISO(label []byte) []byte {
	disc := make([]byte, isoFirst+2*isoBlock)
	copy(disc[isoFirst:], "\x01CD001\x01")
	copy(disc[isoFirst+40:], "TALOS                           ")
	mark(disc, isoLabel, label)
	copy(disc[isoFirst+isoBlock:], "\xffCD001\x01")
	return disc
}

func decodeISO(disc []byte) ([]byte, bool) {
	return marked(disc, isoLabel)
}

// A qcow2 of version 3 is a header, with the label in an extension that readers
// skip, an L1 table, and a refcount table with its block, each one cluster.
const (
	clusterBits   = 16
	cluster       = 1 << clusterBits
	headerLength  = 104
	labelType     = 0x534c5549 // "SLUI"
	virtualSize   = 1 << 30
	l1Cluster     = 1
	tableCluster  = 2
	blockCluster  = 3
	qcow2Clusters = 4
)

// qcow2Magic is "QFI" and a byte that no text holds.
const qcow2Magic = 0x514649fb

type qcow2Header struct {
	Magic, Version        uint32
	BackingOffset         uint64
	BackingSize           uint32
	ClusterBits           uint32
	Size                  uint64
	CryptMethod, L1Size   uint32
	L1Offset              uint64
	RefcountOffset        uint64
	RefcountClusters      uint32
	Snapshots             uint32
	SnapshotsOffset       uint64
	Incompatible          uint64
	Compatible, AutoClear uint64
	RefcountOrder         uint32
	HeaderLength          uint32
}

func encodeQCOW2(label []byte) []byte {
	var file bytes.Buffer
	// Writes to a buffer of values of fixed size cannot fail.
	_ = binary.Write(&file, binary.BigEndian, qcow2Header{
		Magic: qcow2Magic, Version: 3, ClusterBits: clusterBits, Size: virtualSize,
		// One entry of the L1 table is for a cluster of 8-byte entries.
		L1Size: virtualSize / (cluster / 8 * cluster), L1Offset: l1Cluster * cluster,
		RefcountOffset: tableCluster * cluster, RefcountClusters: 1, RefcountOrder: 4, HeaderLength: headerLength,
	})
	_ = binary.Write(&file, binary.BigEndian, [2]uint32{labelType, uint32(len(label))})
	file.Write(label)
	disk := make([]byte, qcow2Clusters*cluster)
	copy(disk, file.Bytes())
	binary.BigEndian.PutUint64(disk[tableCluster*cluster:], blockCluster*cluster)
	for i := range qcow2Clusters {
		binary.BigEndian.PutUint16(disk[blockCluster*cluster+2*i:], 1)
	}
	return disk
}

func decodeQCOW2(disk []byte) ([]byte, bool) {
	if len(disk) < headerLength+8 || binary.BigEndian.Uint32(disk) != qcow2Magic {
		return nil, false
	}
	extension := disk[headerLength:]
	length := binary.BigEndian.Uint32(extension[4:])
	if binary.BigEndian.Uint32(extension) != labelType || uint64(length) > uint64(len(extension)-8) {
		return nil, false
	}
	return extension[8 : 8+length], true
}
