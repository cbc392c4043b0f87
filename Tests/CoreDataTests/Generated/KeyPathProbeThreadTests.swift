import CoreData
import Foundation
import Testing

/// What accessors may do while the key of their key path is being found.
@Suite struct KeyPathProbeThreadTests {
    /// An accessor that waits for another thread, which asks for a key itself.
    private final class Waiting: NSManagedObject {
        var title: String? {
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = NSSortDescriptor(keyPath: \Plain.name, ascending: true).key
                done.signal()
            }
            let isDone = done.wait(timeout: .now() + 20) == .success
            return isDone ? value(forKey: "title") as? String : nil
        }
    }

    private final class Plain: NSManagedObject {
        var name: String? { value(forKey: "name") as? String }
        var partner: Plain? { value(forKey: "partner") as? Plain }
    }

    @Test func noLockIsHeldWhileAnAccessorRuns() {
        #expect(NSSortDescriptor(keyPath: \Waiting.title, ascending: true).key == "title")
    }

    @Test func manyThreadsFindTheirKeys() async {
        await withTaskGroup(of: String?.self) { group in
            for index in 0..<64 {
                group.addTask {
                    index.isMultiple(of: 2)
                        ? NSSortDescriptor(keyPath: \Plain.name, ascending: true).key
                        : NSExpression(forKeyPath: \Plain.partner).keyPath
                }
            }
            var keys: [String?: Int] = [:]
            for await key in group { keys[key, default: 0] += 1 }
            #expect(keys == ["name": 32, "partner": 32])
        }
    }
}
