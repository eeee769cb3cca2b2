#include "agent/watch/judge/sample_judge.h"

#include <gtest/gtest.h>

#include <string>

#include "agent/watch/judge/judge.h"
#include "tests/unit/agent/watch/load_values.h"

namespace pyptox::agent {
namespace {

std::string Gpu(const v1::LoadSample& sample, LoadMoment moment = LoadMoment::kIdle,
                v1::ProcessView view = v1::PROCESS_VIEW_WHOLE) {
  const v1::WatchConfig config = GpuConfig(view);
  return VerdictText(JudgeSample(config, LevelOf(config, IdleGpu()), sample, moment));
}

std::string Npu(const v1::LoadSample& sample, LoadMoment moment = LoadMoment::kIdle,
                v1::ProcessView view = v1::PROCESS_VIEW_WHOLE) {
  const v1::WatchConfig config = NpuConfig(view);
  return VerdictText(JudgeSample(config, LevelOf(config, IdleNpu()), sample, moment));
}

std::string Cpu(const v1::LoadSample& sample, LoadMoment moment = LoadMoment::kIdle) {
  return VerdictText(JudgeSample(CpuConfig(), IdleLevel(), sample, moment));
}

template <typename Change>
v1::LoadSample GpuWith(Change change) {
  v1::LoadSample sample = IdleGpu();
  change(sample.mutable_gpu());
  return sample;
}

template <typename Change>
v1::LoadSample NpuWith(Change change) {
  v1::LoadSample sample = IdleNpu();
  change(sample.mutable_npu());
  return sample;
}

template <typename Change>
v1::LoadSample CpuWith(Change change) {
  v1::LoadSample sample = IdleCpu();
  change(sample.mutable_cpu());
  return sample;
}

TEST(JudgeGpuSample, IdleIsClean) {
  EXPECT_EQ(Gpu(IdleGpu()), "clean");
  EXPECT_EQ(Gpu(IdleGpu(), LoadMoment::kLeg), "clean");
  EXPECT_EQ(Gpu(IdleGpu(), LoadMoment::kIdle, v1::PROCESS_VIEW_HIDDEN), "clean");
}

TEST(JudgeGpuSample, NumbersOverIdleAreForeignWithoutOurProcess) {
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_utilization_percent(97); })),
            "foreign(gpu 0: utilisation 97 % with no process of ours)");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_utilization_percent(13); })), "clean");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_utilization_percent(13.5); })),
            "foreign(gpu 0: utilisation 14 % with no process of ours)");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_power_w(42); })), "clean");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_power_w(42.5); })),
            "foreign(gpu 0: power 42.5 W with no process of ours, 22.0 W when idle)");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_memory_used_mib(1668); })), "clean");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_memory_used_mib(1669); })),
            "foreign(gpu 0: 1669 MiB in use with no process of ours, 1412 MiB when idle)");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_sm_clock_mhz(1199); })), "clean");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_sm_clock_mhz(1200); })),
            "foreign(gpu 0: SM clock 1200 MHz with no process of ours, 427 MHz when idle)");
}

TEST(JudgeGpuSample, DuringTheLegNumbersAreOurs) {
  const v1::LoadSample busy = GpuWith([](auto* gpu) {
    gpu->set_utilization_percent(99);
    gpu->set_power_w(300);
    gpu->set_memory_used_mib(9000);
    gpu->set_sm_clock_mhz(2865);
    *gpu->add_processes() = Process(41002, true, 412);
  });
  EXPECT_EQ(Gpu(busy, LoadMoment::kLeg), "clean");
  EXPECT_EQ(Gpu(busy, LoadMoment::kSettling), "clean");
  EXPECT_EQ(Gpu(busy), "unobservable(gpu 0: process 41002 (412 MiB) is ours and still there)");
}

TEST(JudgeGpuSample, AForeignProcessIsForeignAtAnyMoment) {
  const v1::LoadSample sample = GpuWith([](auto* gpu) {
    *gpu->add_processes() = Process(41002, true, 412);
    *gpu->add_processes() = Process(41077, false, 1808, "/usr/bin/python3");
  });
  for (const LoadMoment moment : {LoadMoment::kIdle, LoadMoment::kLeg, LoadMoment::kSettling}) {
    EXPECT_EQ(Gpu(sample, moment), "foreign(gpu 0: process 41077 (/usr/bin/python3, 1808 MiB))");
  }
}

TEST(JudgeGpuSample, AHiddenIdIsForeignWhenIdleAndUnknownInTheLeg) {
  const v1::LoadSample sample = GpuWith([](auto* gpu) { gpu->add_processes()->set_memory_mib(4); });
  EXPECT_EQ(Gpu(sample), "foreign(gpu 0: a process with a hidden id (4 MiB))");
  EXPECT_EQ(Gpu(sample, LoadMoment::kLeg),
            "unobservable(gpu 0: a process with a hidden id (4 MiB) may or may not be ours)");
}

TEST(JudgeGpuSample, WhereProcessesAreHiddenIdsCountOnlyBesideOurs) {
  constexpr v1::ProcessView kHidden = v1::PROCESS_VIEW_HIDDEN;
  v1::LoadSample sample = GpuWith([](auto* gpu) { *gpu->add_processes() = Process(79, false); });
  EXPECT_EQ(Gpu(sample, LoadMoment::kIdle, kHidden), "foreign(gpu 0: process 79)");
  EXPECT_EQ(Gpu(sample, LoadMoment::kLeg, kHidden), "clean");
  EXPECT_EQ(Gpu(sample, LoadMoment::kSettling, kHidden), "clean");
  *sample.mutable_gpu()->add_processes() = Process(524, true);
  EXPECT_EQ(Gpu(sample, LoadMoment::kLeg, kHidden), "foreign(gpu 0: process 79)");
}

TEST(JudgeGpuSample, HiddenProcessesNeedPowerOrClock) {
  v1::LoadSample sample = GpuWith([](auto* gpu) { gpu->clear_power_w(); });
  EXPECT_EQ(Gpu(sample, LoadMoment::kIdle, v1::PROCESS_VIEW_HIDDEN), "clean");
  sample.mutable_gpu()->clear_sm_clock_mhz();
  EXPECT_EQ(Gpu(sample, LoadMoment::kIdle, v1::PROCESS_VIEW_HIDDEN),
            "unobservable(gpu 0: processes are hidden, and neither power nor SM clock is known)");
  EXPECT_EQ(Gpu(sample), "clean");
}

TEST(JudgeGpuSample, UnknownIsNeverClean) {
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) {
              gpu->clear_utilization_percent();
              gpu->add_unknown("utilization.gpu: [GPU requires reset]");
            })),
            "unobservable(gpu 0: utilisation is unknown (utilization.gpu: [GPU requires reset]))");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->clear_memory_used_mib(); })), "unobservable(gpu 0: memory is unknown)");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_processes_listed(false); })),
            "unobservable(gpu 0: the tool lists no processes)");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_processes_listed(false); }), LoadMoment::kLeg),
            "unobservable(gpu 0: the tool lists no processes)");
  EXPECT_EQ(Gpu(GpuWith([](auto* gpu) { gpu->set_index(1); })), "unobservable(gpu 0: the sample is of gpu 1)");
  v1::LoadSample fault;
  EXPECT_EQ(Gpu(fault), "unobservable(gpu 0: the sample has no reading of it)");
  fault.set_fault("nvidia-smi crashed, signal 11");
  EXPECT_EQ(Gpu(fault), "unobservable(gpu 0: nvidia-smi crashed, signal 11)");
  EXPECT_EQ(Gpu(IdleNpu()), "unobservable(gpu 0: the sample has no reading of it)");
}

TEST(JudgeGpuSample, ForeignWinsOverUnobservable) {
  v1::LoadSample sample = GpuWith([](auto* gpu) {
    gpu->clear_utilization_percent();
    gpu->set_processes_listed(false);
    gpu->set_power_w(200);
  });
  EXPECT_EQ(Gpu(sample), "foreign(gpu 0: power 200.0 W with no process of ours, 22.0 W when idle)");
}

TEST(JudgeGpuSample, WithoutABaselineForeignCanBeSaidAndCleanCannot) {
  const v1::WatchConfig config = GpuConfig();
  IdleLevel level;
  level.readings = 4;
  level.driver = "610.62";
  EXPECT_EQ(VerdictText(JudgeSample(config, level, IdleGpu(), LoadMoment::kIdle)),
            "unobservable(gpu 0: its idle baseline under driver 610.62 is not learned: 4 of 10 samples)");
  const v1::LoadSample busy = GpuWith([](auto* gpu) { gpu->set_utilization_percent(50); });
  EXPECT_EQ(VerdictText(JudgeSample(config, level, busy, LoadMoment::kIdle)),
            "foreign(gpu 0: utilisation 50 % with no process of ours)");
}

TEST(JudgeGpuSample, AnotherDriverIsHeldAgainstNothing) {
  v1::LoadSample sample = GpuWith([](auto* gpu) { gpu->set_driver("616.92"); });
  EXPECT_EQ(Gpu(sample), "unobservable(gpu 0: its idle baseline under driver 616.92 is not learned: 0 of 10 samples)");
  EXPECT_EQ(Gpu(sample, LoadMoment::kLeg), "clean");
}

TEST(JudgeNpuSample, ThreeGigabytesAreIdle) {
  EXPECT_EQ(Npu(IdleNpu()), "clean");
  EXPECT_EQ(Npu(NpuWith([](auto* npu) { npu->set_hbm_used_mib(3144); })), "clean");
  EXPECT_EQ(Npu(NpuWith([](auto* npu) { npu->set_hbm_used_mib(3145); })),
            "foreign(npu 7 chip 1: 3145 MiB HBM in use with no process of ours, 2888 MiB when idle)");
  EXPECT_EQ(Npu(NpuWith([](auto* npu) {
              npu->set_hbm_used_mib(3145);
              npu->set_hbm_step_mib(655);
            })),
            "clean");
}

TEST(JudgeNpuSample, AnyAicoreIsForeign) {
  EXPECT_EQ(Npu(NpuWith([](auto* npu) { npu->set_aicore_percent(1); })),
            "foreign(npu 7 chip 1: AICore 1 % with no process of ours)");
  EXPECT_EQ(Npu(NpuWith([](auto* npu) { npu->set_aicore_percent(63); }), LoadMoment::kLeg), "clean");
}

TEST(JudgeNpuSample, ForeignProcesses) {
  const v1::LoadSample sample = NpuWith([](auto* npu) { *npu->add_processes() = Process(733120, false, 28911); });
  EXPECT_EQ(Npu(sample), "foreign(npu 7 chip 1: process 733120 (28911 MiB))");
  EXPECT_EQ(Npu(sample, LoadMoment::kLeg), "foreign(npu 7 chip 1: process 733120 (28911 MiB))");
  // In a container ids are the host's, and ours would look like this too.
  EXPECT_EQ(Npu(sample, LoadMoment::kLeg, v1::PROCESS_VIEW_HIDDEN), "clean");
}

TEST(JudgeNpuSample, InTheLegHbmThatNoListedProcessHoldsIsForeign) {
  v1::LoadSample sample = NpuWith([](auto* npu) {
    *npu->add_processes() = Process(5, true, 5000);
    npu->set_hbm_used_mib(2888 + 5000 + 256);
  });
  EXPECT_EQ(Npu(sample, LoadMoment::kLeg), "clean");
  sample.mutable_npu()->set_hbm_used_mib(2888 + 5000 + 257);
  EXPECT_EQ(Npu(sample, LoadMoment::kLeg),
            "foreign(npu 7 chip 1: 8145 MiB HBM in use, 5000 MiB by listed processes and 2888 MiB when idle)");
  sample.mutable_npu()->mutable_processes(0)->clear_memory_mib();
  EXPECT_EQ(Npu(sample, LoadMoment::kLeg), "clean");
  // A short job of ours may not be listed at all.
  sample.mutable_npu()->clear_processes();
  EXPECT_EQ(Npu(sample, LoadMoment::kLeg), "clean");
}

TEST(JudgeNpuSample, UnknownIsNeverClean) {
  EXPECT_EQ(Npu(NpuWith([](auto* npu) { npu->clear_aicore_percent(); })),
            "unobservable(npu 7 chip 1: AICore is unknown)");
  EXPECT_EQ(Npu(NpuWith([](auto* npu) { npu->clear_hbm_used_mib(); })), "unobservable(npu 7 chip 1: HBM is unknown)");
  EXPECT_EQ(Npu(NpuWith([](auto* npu) { npu->set_processes_listed(false); })),
            "unobservable(npu 7 chip 1: the tool lists no processes)");
  EXPECT_EQ(Npu(NpuWith([](auto* npu) { npu->set_chip_id(0); })),
            "unobservable(npu 7 chip 1: the sample is of npu 7 chip 0)");
  EXPECT_EQ(VerdictText(JudgeSample(NpuConfig(), IdleLevel(), IdleNpu(), LoadMoment::kIdle)),
            "unobservable(npu 7 chip 1: its idle baseline under driver 26.1.1 is not learned: 0 of 10 samples)");
}

TEST(JudgeNpuSample, AnotherPhyIdIsAnotherChip) {
  v1::WatchConfig config = NpuConfig();
  config.set_phy_id(15);
  EXPECT_EQ(VerdictText(JudgeSample(config, LevelOf(config, IdleNpu()), IdleNpu(), LoadMoment::kIdle)), "clean");
  config.set_phy_id(14);
  EXPECT_EQ(VerdictText(JudgeSample(config, LevelOf(config, IdleNpu()), IdleNpu(), LoadMoment::kIdle)),
            "unobservable(npu 7 chip 1: its Phy-ID is 15 and not 14)");
}

TEST(JudgeNpuSample, HealthIsNotLoad) {
  EXPECT_EQ(Npu(NpuWith([](auto* npu) { npu->set_health("Alarm"); })), "clean");
}

TEST(JudgeCpuSample, TimeOfOthers) {
  EXPECT_EQ(Cpu(IdleCpu()), "clean");
  EXPECT_EQ(Cpu(CpuWith([](auto* cpu) { cpu->set_foreign_cpus(0.6); })), "clean");
  EXPECT_EQ(Cpu(CpuWith([](auto* cpu) { cpu->set_foreign_cpus(0.61); })), "foreign(cpu: others use 0.61 of 12 CPUs)");
  EXPECT_EQ(Cpu(CpuWith([](auto* cpu) { cpu->set_foreign_cpus(0.61); }), LoadMoment::kLeg),
            "foreign(cpu: others use 0.61 of 12 CPUs)");
  EXPECT_EQ(Cpu(CpuWith([](auto* cpu) { cpu->set_stolen_cpus(0.9); }), LoadMoment::kLeg),
            "foreign(cpu: the hypervisor takes 0.90 of 12 CPUs)");
}

TEST(JudgeCpuSample, RunnableThreadsOfOthers) {
  const auto with = [](uint32_t all, uint32_t own) {
    return CpuWith([&](auto* cpu) {
      cpu->set_runnable(all);
      cpu->set_own_runnable(own);
    });
  };
  EXPECT_EQ(Cpu(with(4, 1)), "clean");
  EXPECT_EQ(Cpu(with(5, 1)), "foreign(cpu: 4 runnable threads of others on 12 CPUs)");
  // Ours are subtracted, and the two snapshots are not taken at one moment.
  EXPECT_EQ(Cpu(with(14, 13), LoadMoment::kLeg), "clean");
  EXPECT_EQ(Cpu(with(3, 13), LoadMoment::kLeg), "clean");
  v1::LoadSample small = with(2, 1);
  small.mutable_cpu()->set_cpus(2);
  EXPECT_EQ(Cpu(small), "foreign(cpu: others use 0.12 of 2 CPUs)");
  small.mutable_cpu()->set_foreign_cpus(0.01);
  EXPECT_EQ(Cpu(small), "clean");
}

TEST(JudgeCpuSample, PressureCountsOnlyWhileNothingOfOursRuns) {
  const v1::LoadSample sample = CpuWith([](auto* cpu) { cpu->set_pressure_percent(34); });
  EXPECT_EQ(Cpu(sample), "foreign(cpu: tasks wait for a CPU 34 % of the time)");
  EXPECT_EQ(Cpu(sample, LoadMoment::kLeg), "clean");
  EXPECT_EQ(Cpu(sample, LoadMoment::kSettling), "clean");
  EXPECT_EQ(Cpu(CpuWith([](auto* cpu) { cpu->set_pressure_percent(10); })), "clean");
}

TEST(JudgeCpuSample, LoadAverageAndOldPressureAreShownOnly) {
  EXPECT_EQ(Cpu(CpuWith([](auto* cpu) {
              cpu->set_load1(90);
              cpu->set_pressure_some_avg10(90);
            })),
            "clean");
}

TEST(JudgeCpuSample, HostWideNumbersAreNotHeldAgainstSomeCpus) {
  v1::LoadSample sample = CpuWith([](auto* cpu) {
    cpu->set_part_of_host(true);
    cpu->set_runnable(161);
    cpu->set_pressure_percent(50);
  });
  EXPECT_EQ(Cpu(sample), "clean");
  sample.mutable_cpu()->set_foreign_cpus(1);
  EXPECT_EQ(Cpu(sample), "foreign(cpu: others use 1.00 of 12 CPUs)");
}

TEST(JudgeCpuSample, UnknownIsNeverClean) {
  EXPECT_EQ(Cpu(CpuWith([](auto* cpu) {
              cpu->clear_used_seconds();
              cpu->add_unknown("/proc/stat: no such file");
            })),
            "unobservable(cpu: the CPUs' time is unknown (/proc/stat: no such file))");
  EXPECT_EQ(Cpu(CpuWith([](auto* cpu) { cpu->clear_own_seconds(); })),
            "unobservable(cpu: the CPU time of our own tree is unknown)");
  // Without PSI the CPUs' time still says everything.
  EXPECT_EQ(Cpu(CpuWith([](auto* cpu) {
              cpu->clear_pressure_percent();
              cpu->clear_runnable();
            })),
            "clean");
}

}  // namespace
}  // namespace pyptox::agent
