import CoreDataSyncEngine
import Testing

@Suite struct HybridClockTests {
    private let device = DeviceID(high: 0, low: 1)
    private let other = DeviceID(high: 0, low: 2)

    @Test func neverRunsBackwards() {
        var clock = HybridClock(device: device)
        let first = clock.next(now: 5_000)
        let second = clock.next(now: 4_000)
        let third = clock.next(now: 5_000)
        #expect(first < second && second < third)
        #expect(first.milliseconds == 5_000 && third.milliseconds == 5_000)
    }

    @Test func comesAfterWhatItHasSeen() {
        var clock = HybridClock(device: device)
        let seen = Stamp(ticks: 9_000 << 16 | 7, device: other)
        let isBelieved = clock.observe(seen, now: 5_000)
        #expect(isBelieved)
        #expect(clock.next(now: 5_000) > seen)
    }

    @Test func refusesATimeMoreThanADayAhead() {
        var clock = HybridClock(device: device)
        let day = HybridClock.tolerance
        let isBelieved = clock.observe(Stamp(ticks: (5_000 + day) << 16, device: other), now: 5_000)
        let isRefused = !clock.observe(Stamp(ticks: (5_001 + day) << 16, device: other), now: 5_000)
        #expect(isBelieved && isRefused)
        #expect(clock.next(now: 5_000).milliseconds == 5_000 + day)
    }

    @Test func seedsAreOlderThanEveryEdit() {
        var clock = HybridClock(device: device)
        let edit = clock.next(now: 0)
        #expect(!edit.isSeed)
        for age in [SeedAge.yielding, .even, .prevailing] {
            #expect(age.stamp(other).isSeed)
            #expect(age.stamp(other) < edit)
        }
        #expect(SeedAge.yielding.stamp(other) < SeedAge.even.stamp(device))
    }
}
