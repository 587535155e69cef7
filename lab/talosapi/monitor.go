package talosapi

import (
	"context"
	"path"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
)

// A node of the lab has the devices that its resources list, and is idle.

// Memory is nearly all free; the kernel keeps a thirty-second part.
func (s *monitorCalls) Memory(context.Context, *emptypb.Empty) (*machine.MemoryResponse, error) {
	kib := uint64(s.node.MemoryMiB()) << 10
	total := kib - kib/32
	free := total - total/8
	return &machine.MemoryResponse{Messages: []*machine.Memory{{Meminfo: &machine.MemInfo{
		Memtotal: total, Memfree: free, Memavailable: free, Cached: total - free,
	}}}}, nil
}

// LoadAvg is zero.
func (s *monitorCalls) LoadAvg(context.Context, *emptypb.Empty) (*machine.LoadAvgResponse, error) {
	return &machine.LoadAvgResponse{Messages: []*machine.LoadAvg{{}}}, nil
}

// SystemStat returns since when the processors have been idle.
func (s *monitorCalls) SystemStat(context.Context, *emptypb.Empty) (*machine.SystemStatResponse, error) {
	idle := time.Since(s.node.Booted()).Seconds()
	message := &machine.SystemStat{
		BootTime: uint64(s.node.Booted().Unix()),
		CpuTotal: &machine.CPUStat{Idle: idle * float64(s.node.CPUs())},
	}
	for range s.node.CPUs() {
		message.Cpu = append(message.Cpu, &machine.CPUStat{Idle: idle})
	}
	return &machine.SystemStatResponse{Messages: []*machine.SystemStat{message}}, nil
}

// CPUInfo lists the processors.
func (s *monitorCalls) CPUInfo(ctx context.Context, _ *emptypb.Empty) (*machine.CPUInfoResponse, error) {
	processors, err := safe.StateListAll[*hardware.Processor](ctx, s.node.Resources())
	if err != nil {
		return nil, err
	}
	model := ""
	for processor := range processors.All() {
		model = processor.TypedSpec().ProductName
	}
	message := &machine.CPUsInfo{}
	for i := range s.node.CPUs() {
		message.CpuInfo = append(message.CpuInfo, &machine.CPUInfo{Processor: uint32(i), ModelName: model, Siblings: uint32(s.node.CPUs())})
	}
	return &machine.CPUInfoResponse{Messages: []*machine.CPUsInfo{message}}, nil
}

// DiskStats lists the disks, without any writes.
func (s *monitorCalls) DiskStats(ctx context.Context, _ *emptypb.Empty) (*machine.DiskStatsResponse, error) {
	disks, err := safe.StateListAll[*block.Disk](ctx, s.node.Resources())
	if err != nil {
		return nil, err
	}
	message := &machine.DiskStats{Total: &machine.DiskStat{}}
	for disk := range disks.All() {
		message.Devices = append(message.Devices, &machine.DiskStat{Name: disk.Metadata().ID()})
	}
	return &machine.DiskStatsResponse{Messages: []*machine.DiskStats{message}}, nil
}

// NetworkDeviceStats lists the links, without any traffic.
func (s *monitorCalls) NetworkDeviceStats(ctx context.Context, _ *emptypb.Empty) (*machine.NetworkDeviceStatsResponse, error) {
	links, err := safe.StateListAll[*network.LinkStatus](ctx, s.node.Resources())
	if err != nil {
		return nil, err
	}
	message := &machine.NetworkDeviceStats{Total: &machine.NetDev{}}
	for link := range links.All() {
		message.Devices = append(message.Devices, &machine.NetDev{Name: link.Metadata().ID()})
	}
	return &machine.NetworkDeviceStatsResponse{Messages: []*machine.NetworkDeviceStats{message}}, nil
}

// Mounts lists the mounted volumes, which are empty.
func (s *monitorCalls) Mounts(ctx context.Context, _ *emptypb.Empty) (*machine.MountsResponse, error) {
	mounts, err := safe.StateListAll[*block.MountStatus](ctx, s.node.Resources())
	if err != nil {
		return nil, err
	}
	message := &machine.Mounts{}
	for mount := range mounts.All() {
		stat := &machine.MountStat{Filesystem: mount.TypedSpec().Source, MountedOn: mount.TypedSpec().Target}
		volume, err := safe.StateGetByID[*block.VolumeStatus](ctx, s.node.Resources(), mount.TypedSpec().Spec.VolumeID)
		if err == nil {
			stat.Size, stat.Available = volume.TypedSpec().Size, volume.TypedSpec().Size
		}
		message.Stats = append(message.Stats, stat)
	}
	return &machine.MountsResponse{Messages: []*machine.Mounts{message}}, nil
}

// Processes returns those of the running services.
func (s *monitorCalls) Processes(context.Context, *emptypb.Empty) (*machine.ProcessesResponse, error) {
	message := &machine.Process{}
	run := func(parent int32, program string) {
		message.Processes = append(message.Processes, &machine.ProcessInfo{
			Pid: int32(len(message.Processes) + 1), Ppid: parent, State: "S", Threads: 1,
			Command: path.Base(program), Executable: program, Args: program,
		})
	}
	run(0, "/sbin/init")
	for _, service := range s.node.Services() {
		if service.GetState() == "Running" {
			run(1, service.GetId())
		}
	}
	return &machine.ProcessesResponse{Messages: []*machine.Process{message}}, nil
}
