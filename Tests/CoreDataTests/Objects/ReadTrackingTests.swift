import Foundation
import Observation
import Testing

@testable import CoreData

/// Whether reads are being tracked is known on each thread, however often it was asked before.
@Suite struct ReadTrackingTests {
    @Test func trackedInsideOnly() {
        for _ in 0..<2 {
            #expect(!ReadTracking.isTracking)
            let inside = withObservationTracking {
                let before = ReadTracking.isTracking
                let nested = withObservationTracking {
                    ReadTracking.isTracking
                } onChange: {
                }
                return [before, nested, ReadTracking.isTracking]
            } onChange: {
            }
            #expect(inside == [true, true, true])
            #expect(!ReadTracking.isTracking)
        }
    }

    /// The first question of a thread may come while it tracks; what another one does is nothing to it.
    @Test func eachThreadByItself() async {
        let found = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let inside = withObservationTracking {
                    let own = ReadTracking.isTracking
                    return [own] + Self.onAnotherThread()
                } onChange: {
                }
                continuation.resume(returning: inside + [ReadTracking.isTracking])
            }
        }
        #expect(found == [true, false, true, false, false])
    }

    /// Outside, inside and after a tracking of another thread's own.
    private static func onAnotherThread() -> [Bool] {
        let answers = Answers()
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            answers.list.append(ReadTracking.isTracking)
            answers.list.append(
                withObservationTracking {
                    ReadTracking.isTracking
                } onChange: {
                })
            answers.list.append(ReadTracking.isTracking)
            done.signal()
        }
        done.wait()
        return answers.list
    }

    private final class Answers: @unchecked Sendable {
        // Safe because the thread that waits looks at them after the other has signalled.
        var list: [Bool] = []
    }

    /// A registrar says the same.
    @Test func theRegistrarAgrees() {
        let observations = ObjectObservations()
        #expect(observations.isTellingOfReads == ReadTracking.isTracking)
        let agrees = withObservationTracking {
            observations.isTellingOfReads == ReadTracking.isTracking
        } onChange: {
        }
        #expect(agrees)
    }
}
