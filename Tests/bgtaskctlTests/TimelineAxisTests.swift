import TestKit
import Testing
import TaskControl

@Suite("The axis of a timeline")
struct TimelineAxisTests {
    private func ticks(
        _ begin: Int, _ end: Int, characters: Int = 80, _ clock: LocalClock = TimelineSample.berlin
    ) -> [TimeAxis.Tick] {
        let axis = TimeAxis(begin: begin * 1000, end: end * 1000, clock: clock)
        return axis.ticks(axis.step(characters: characters))
    }

    private static let finest: [(seconds: Int, step: TimeAxis.Step)] = [
        (1, .seconds(1)), (10, .seconds(2)), (60, .seconds(10)), (600, .seconds(60)),
        (3600, .seconds(600)), (86_400, .hours(3)), (604_800, .days(1)), (2_592_000, .weeks(1)),
        (31_536_000, .months(3)), (1_261_440_000, .months(60)),
    ]

    @Test("the finest step is taken whose labels have room", arguments: finest)
    func steps(seconds: Int, expected: TimeAxis.Step) {
        #expect(TimelineSample.axis(seconds).step(characters: 80) == expected)
    }

    @Test("a day is named where it begins, and at the first time of all")
    func days() {
        // 2026-11-25 20:10 to 2026-11-26 05:00 UTC, an hour later in Berlin.
        let ticks = ticks(1_795_637_400, 1_795_669_200, characters: 60)
        #expect(ticks.map(\.label) == ["22:00", "00:00", "02:00", "04:00", "06:00"])
        #expect(ticks.map(\.day) == ["Wed 25 Nov", "Thu 26 Nov", nil, nil, nil])
    }

    @Test(
        "days are an hour apart more or less where the clock changes, and each begins at midnight")
    func clockChange() {
        // Four days around 29 March 2026, when a day had 23 hours.
        let spring = ticks(1_774_652_400, 1_774_908_000, characters: 40)
        #expect(spring.map(\.label) == ["28 Mar", "29 Mar", "30 Mar", "31 Mar"])
        let moments = spring.map { $0.moment / 1000 }
        #expect(zip(moments, moments.dropFirst()).map { $1 - $0 } == [86_400, 82_800, 86_400])
    }

    @Test("an hour that the clock leaves out has no tick, and one that it shows twice has one")
    func missingHour() {
        // From midnight to 06:00 on the day of the change, in steps of an hour and of two.
        let spring = ticks(1_774_738_800, 1_774_756_800, characters: 60)
        #expect(spring.map(\.label) == ["00:00", "01:00", "03:00", "04:00", "05:00", "06:00"])
        let autumn = ticks(1_792_879_200, 1_792_904_400, characters: 60)
        #expect(
            autumn.map(\.label) == [
                "00:00", "01:00", "02:00", "02:00", "03:00", "04:00", "05:00", "06:00",
            ])
        let coarse = ticks(1_792_879_200, 1_792_904_400, characters: 35)
        #expect(coarse.map(\.label) == ["00:00", "02:00", "04:00", "06:00"])
    }

    @Test("weeks begin on a Monday, and months on their first day")
    func weeks() {
        let axis = TimelineSample.axis(30 * 86_400)
        #expect(axis.ticks(.weeks(1)).map(\.label) == ["2 Nov", "9 Nov", "16 Nov", "23 Nov"])
        let year = TimelineSample.axis(365 * 86_400)
        #expect(
            year.ticks(.months(3)).map(\.label) == ["Jan 2026", "Apr 2026", "Jul 2026", "Oct 2026"])
    }

    @Test("the title says the zone, and both where the clock changes")
    func title() {
        #expect(
            TimelineSample.axis(3600).title == "2026-11-25 17:00:00 – 18:00:00 (UTC+00:00)")
        let axis = TimeAxis(
            begin: 1_774_738_800_000, end: 1_774_828_800_000, clock: TimelineSample.berlin)
        #expect(
            axis.title
                == "2026-03-29 00:00:00 – 2026-03-30 02:00:00 (UTC+01:00, then UTC+02:00)")
        #expect(LocalClock { _ in -12_600 }.zone(0) == "UTC-03:30")
    }

    @Test("whatever the span, ticks are within it, each later than the last, and have room")
    func random() {
        for seed in 0..<Effort.choose(UInt64(300), 5000) {
            var random = SeededGenerator(seed: seed)
            let length = 1 << Int.random(in: 1...32, using: &random)
            let end = Int.random(in: 1...4_000_000_000, using: &random)
            let change = Int.random(in: 0...4_000_000_000, using: &random)
            let offsets = [3600, -12_600, 20_700, 50_400, -43_200, 0]
            let first = offsets.randomElement(using: &random) ?? 0
            let shift = [0, 3600, -3600, 1800, -1800].randomElement(using: &random) ?? 0
            let clock = LocalClock { $0 < change ? first : first + shift }
            let characters = Int.random(in: 20...300, using: &random)
            let axis = TimeAxis(begin: (end - length) * 1000, end: end * 1000, clock: clock)
            let ticks = axis.ticks(axis.step(characters: characters))
            let moments = ticks.map(\.moment)
            #expect(moments.allSatisfy { (axis.begin...axis.end).contains($0) }, "seed \(seed)")
            #expect(zip(moments, moments.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
            let taken = ticks.reduce(0) { $0 + $1.label.count + 1 }
            // One more than the spaces between them, and one for an hour that comes twice.
            #expect(taken <= characters + 20, "seed \(seed)")
            for tick in ticks {
                let local = clock.local(at: tick.moment / 1000)
                #expect(clock.moment(ofLocal: local) != nil, "seed \(seed)")
            }
        }
    }
}
