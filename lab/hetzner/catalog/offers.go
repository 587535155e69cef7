package catalog

import (
	"slices"
	"strings"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"
)

var locations = []schema.Location{
	{ID: 1, Name: "fsn1", Description: "Falkenstein DC Park 1", Country: "DE", City: "Falkenstein", Latitude: 50.47612, Longitude: 12.370071, NetworkZone: "eu-central"},
	{ID: 2, Name: "nbg1", Description: "Nuremberg DC Park 1", Country: "DE", City: "Nuremberg", Latitude: 49.452102, Longitude: 11.076665, NetworkZone: "eu-central"},
	{ID: 3, Name: "hel1", Description: "Helsinki DC Park 1", Country: "FI", City: "Helsinki", Latitude: 60.169857, Longitude: 24.938379, NetworkZone: "eu-central"},
	{ID: 4, Name: "ash", Description: "Ashburn, VA", Country: "US", City: "Ashburn, VA", Latitude: 39.045821, Longitude: -77.487073, NetworkZone: "us-east"},
	{ID: 5, Name: "hil", Description: "Hillsboro, OR", Country: "US", City: "Hillsboro, OR", Latitude: 45.54222, Longitude: -122.951924, NetworkZone: "us-west"},
	{ID: 6, Name: "sin", Description: "Singapore", Country: "SG", City: "Singapore", Latitude: 1.283333, Longitude: 103.833333, NetworkZone: "ap-southeast"},
}

// datacenters are one per location. Only the metadata of a server names them.
var datacenters = []string{"fsn1-dc14", "nbg1-dc3", "hel1-dc2", "ash-dc1", "hil-dc1", "sin-dc1"}

var (
	europe  = []string{"fsn1", "nbg1", "hel1"}
	america = []string{"ash", "hil"}
	asia    = []string{"sin"}
)

// retired is when Hetzner stopped selling types of servers. A type that is no longer sold anywhere is not listed, such as cx22 to cx52; for a type that is
// still sold elsewhere the list shows this by location.
var retired = schema.DeprecationInfo{
	Announced:        time.Date(2025, time.October, 16, 6, 0, 0, 0, time.UTC),
	UnavailableAfter: time.Date(2025, time.December, 31, 23, 59, 59, 0, time.UTC),
}

// family are types of servers that are sold in the same locations.
type family struct {
	category string
	cpu      string
	sold     []string
	// retired are the locations in which it is no longer sold.
	retired []string
	plans   []plan
}

// plan is one type of servers.
type plan struct {
	id     int64
	name   string
	cores  int
	memory float32
	disk   int
}

var families = []family{
	{"Regular Performance", "shared", america, europe, []plan{
		{22, "cpx11", 2, 2, 40}, {23, "cpx21", 3, 4, 80}, {24, "cpx31", 4, 8, 160},
		{25, "cpx41", 8, 16, 240}, {26, "cpx51", 16, 32, 360},
	}},
	{"Cost-Optimized", "shared", europe, nil, []plan{
		{45, "cax11", 2, 4, 40}, {93, "cax21", 4, 8, 80}, {94, "cax31", 8, 16, 160}, {95, "cax41", 16, 32, 320},
	}},
	{"General Purpose", "dedicated", slices.Concat(europe, america, asia), nil, []plan{
		{96, "ccx13", 2, 8, 80}, {97, "ccx23", 4, 16, 160}, {98, "ccx33", 8, 32, 240},
		{99, "ccx43", 16, 64, 360}, {100, "ccx53", 32, 128, 600}, {101, "ccx63", 48, 192, 960},
	}},
	{"Regular Performance", "shared", slices.Concat(europe, asia), nil, []plan{
		{108, "cpx12", 1, 2, 40}, {109, "cpx22", 2, 4, 80}, {110, "cpx32", 4, 8, 160},
		{111, "cpx42", 8, 16, 320}, {112, "cpx52", 12, 24, 480}, {113, "cpx62", 16, 32, 640},
	}},
	{"Cost-Optimized", "shared", europe, nil, []plan{
		{114, "cx23", 2, 4, 40}, {115, "cx33", 4, 8, 80}, {116, "cx43", 8, 16, 160}, {117, "cx53", 16, 32, 320},
	}},
}

func (f family) serverType(p plan) schema.ServerType {
	made := schema.ServerType{
		ID: p.id, Name: p.name, Description: strings.ToUpper(p.name), Category: f.category,
		Cores: p.cores, Memory: p.memory, Disk: p.disk, StorageType: "local", CPUType: f.cpu, Architecture: "x86",
	}
	if strings.HasPrefix(p.name, "cax") {
		made.Architecture = "arm"
	}
	for _, location := range locations {
		sold, past := slices.Contains(f.sold, location.Name), slices.Contains(f.retired, location.Name)
		if !sold && !past {
			continue
		}
		at := schema.ServerTypeLocation{ID: location.ID, Name: location.Name, Recommended: sold, Available: sold}
		if past {
			at.Deprecation = &retired
		}
		made.Locations = append(made.Locations, at)
	}
	return made
}

// balancerPlan is a type of load balancers.
type balancerPlan struct {
	id                             int64
	name                           string
	connections, services, targets int
}

var balancerPlans = []balancerPlan{
	{1, "lb11", 10_000, 5, 25}, {2, "lb21", 20_000, 15, 75}, {3, "lb31", 40_000, 30, 150},
}

func (p balancerPlan) loadBalancerType() schema.LoadBalancerType {
	return schema.LoadBalancerType{
		ID: p.id, Name: p.name, Description: strings.ToUpper(p.name), MaxConnections: p.connections,
		MaxServices: p.services, MaxTargets: p.targets, MaxAssignedCertificates: 10 * p.services,
	}
}

var isos = []schema.ISO{
	{ID: 119702, Name: "debian-12.11.0-amd64-netinst.iso", Description: "Debian 12 (amd64/netinstall)", Type: "public", Architecture: new("x86")},
	{ID: 122629, Name: "talos-amd64-omni-stable.iso", Description: "Talos (amd64)", Type: "public", Architecture: new("x86")},
	{ID: 122630, Name: "talos-arm64-omni-stable.iso", Description: "Talos (arm64)", Type: "public", Architecture: new("arm")},
}
