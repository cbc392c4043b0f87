#if OpenCombine
    import Combine
    import Dispatch
    import Testing

    /// Publishers that the module has beyond OpenCombine's.
    @Suite struct MergingTests {
        private final class Seen {
            var values: [String] = []
            var bag: [AnyCancellable] = []

            func take<P: Publisher>(_ publisher: P, _ name: String = "") {
                publisher.sink(
                    receiveCompletion: { [unowned self] completion in
                        if case .finished = completion { values.append(name + "end") } else { values.append("failed") }
                    }, receiveValue: { [unowned self] in values.append(name + "\($0)") }
                ).store(in: &bag)
            }
        }

        private struct Failed: Error {}

        private let (a, b, c) = (
            PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>()
        )

        @Test func mergesPublishWhatEachDoesAndEndWithTheLast() {
            let seen = Seen()
            seen.take(Publishers.Merge(a, b))
            a.send(1)
            b.send(2)
            a.send(completion: .finished)
            b.send(3)
            b.send(completion: .finished)
            #expect(seen.values == ["1", "2", "3", "end"])
        }

        @Test func mergesOfManyArePlain() {
            let seen = Seen()
            seen.take(a.merge(with: b, c), "t")
            seen.take(Publishers.MergeMany(a, b).merge(with: c), "m")
            seen.take(a.merge(with: b).merge(with: c, a, b, c, a, b), "e")
            a.send(1)
            #expect(seen.values == ["t1", "m1", "e1", "e1", "e1"])
            let subjects = (0..<8).map { _ in PassthroughSubject<Int, Never>() }
            let all = Seen()
            all.take(
                Publishers.Merge8(
                    subjects[0], subjects[1], subjects[2], subjects[3], subjects[4], subjects[5], subjects[6],
                    subjects[7]))
            for (index, subject) in subjects.enumerated() { subject.send(index) }
            #expect(all.values == (0..<8).map(String.init))
        }

        @Test func aFailureEndsAMerge() {
            let (one, other) = (PassthroughSubject<Int, any Error>(), PassthroughSubject<Int, any Error>())
            let seen = Seen()
            seen.take(Publishers.Merge(one, other))
            one.send(1)
            other.send(completion: .failure(Failed()))
            one.send(2)
            #expect(seen.values == ["1", "failed"])
        }

        @Test func theLatestAreCombinedOnceEachHasPublished() {
            let seen = Seen()
            seen.take(a.combineLatest(b) { "\($0)-\($1)" })
            a.send(1)
            a.send(2)
            b.send(3)
            a.send(4)
            a.send(completion: .finished)
            b.send(5)
            b.send(completion: .finished)
            #expect(seen.values == ["2-3", "4-3", "4-5", "end"])
            let three = Seen()
            three.take(Publishers.CombineLatest3(a, b, c).map { $0 + $1 + $2 })
            three.take(Publishers.CombineLatest4(Just(1), Just(2), Just(3), Just(4)).map { $0.0 + $0.1 + $0.2 + $0.3 })
            #expect(three.values.contains("10"))
        }

        @Test func elementsAreCollectedByCountBeforeTheTimeIsOver() async {
            let seen = Seen()
            let queue = DispatchQueue(label: "test")
            seen.take(a.collect(.byTimeOrCount(queue, .seconds(3600), 2)))
            for number in 1...5 { a.send(number) }
            #expect(seen.values == ["[1, 2]", "[3, 4]"])
            a.send(completion: .finished)
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
            #expect(seen.values == ["[1, 2]", "[3, 4]", "[5]", "end"])
        }
    }
#endif
