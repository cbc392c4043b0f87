import CoreData
import Foundation
import Testing

@Suite struct MethodObserverTests {
    private static let name = Notification.Name("MethodObserverTests")
    private static let other = Notification.Name("MethodObserverTests.other")

    private final class Listener {
        var heard: [String] = []
        private let center: NotificationCenter
        private let removesItself: Bool

        init(_ center: NotificationCenter, removesItself: Bool = false) {
            self.center = center
            self.removesItself = removesItself
        }

        deinit {
            if removesItself { center.removeObserver(self) }
        }

        func value(_ notification: Notification) { heard.append("value \(notification.object as? Int ?? 0)") }
        func object(_ notification: NSNotification) {
            heard.append("object \(notification.userInfo?["key"] as? Int ?? 0)")
        }
        func nothing() { heard.append("nothing") }
    }

    @Test func methodsOfEachKindAreCalled() {
        let center = NotificationCenter()
        let listener = Listener(center)
        center.addObserver(listener, selector: Listener.value(_:), name: Self.name, object: nil)
        center.addObserver(listener, selector: Listener.object, name: Self.name, object: nil)
        center.addObserver(listener, selector: Listener.nothing, name: Self.name, object: nil)
        center.addObserver(listener, selector: { $0.nothing }, name: Self.other, object: nil)
        center.post(name: Self.name, object: 7, userInfo: ["key": 8])
        #expect(listener.heard.sorted() == ["nothing", "object 8", "value 7"])
        center.post(name: Self.other, object: nil)
        #expect(listener.heard.count == 4)
    }

    @Test func onlyTheObservedObjectIsHeard() {
        let center = NotificationCenter()
        let listener = Listener(center)
        let source = NSObject()
        center.addObserver(listener, selector: Listener.nothing, name: nil, object: source)
        center.post(name: Self.name, object: NSObject())
        #expect(listener.heard.isEmpty)
        center.post(name: Self.name, object: source)
        center.post(name: Self.other, object: source)
        #expect(listener.heard.count == 2)
    }

    /// Addresses are used again: what an observer of a centre that is gone had must not be taken for this one's.
    @Test func formerObserversAtTheSameAddressDoNotMatter() {
        for _ in 0..<200 {
            do {
                let center = NotificationCenter()
                let former = [Listener(center), Listener(center), Listener(center)]
                for listener in former {
                    center.addObserver(listener, selector: Listener.nothing, name: Self.name, object: nil)
                }
            }
            let center = NotificationCenter()
            let listener = Listener(center)
            let stays = [Listener(center), Listener(center)]
            for listener in [listener] + stays {
                center.addObserver(listener, selector: Listener.nothing, name: Self.name, object: nil)
            }
            center.removeObserver(listener)
            center.post(name: Self.name, object: nil)
            #expect(listener.heard == [] && stays.allSatisfy { $0.heard == ["nothing"] })
        }
    }

    @Test func removedObserverHearsNothing() {
        let center = NotificationCenter()
        let listener = Listener(center)
        let stays = Listener(center)
        for listener in [listener, stays] {
            center.addObserver(listener, selector: Listener.nothing, name: Self.name, object: nil)
            center.addObserver(listener, selector: Listener.value(_:), name: Self.other, object: nil)
        }
        center.removeObserver(listener, name: Self.name, object: nil)
        center.post(name: Self.name, object: nil)
        #expect(listener.heard == [] && stays.heard == ["nothing"])
        center.post(name: Self.other, object: 1)
        #expect(listener.heard == ["value 1"])
        center.removeObserver(listener)
        center.post(name: Self.other, object: 2)
        #expect(listener.heard == ["value 1"] && stays.heard.count == 3)
    }

    @Test func removalFromOneCentreLeavesTheOther() {
        let (first, second) = (NotificationCenter(), NotificationCenter())
        let listener = Listener(first)
        for center in [first, second] {
            center.addObserver(listener, selector: Listener.nothing, name: Self.name, object: nil)
        }
        first.removeObserver(listener)
        first.post(name: Self.name, object: nil)
        second.post(name: Self.name, object: nil)
        #expect(listener.heard.count == 1)
    }

    @Test(arguments: [false, true]) func observerIsNotKept(removesItself: Bool) {
        let center = NotificationCenter()
        var listener: Listener? = Listener(center, removesItself: removesItself)
        weak let weakly = listener
        if let listener { center.addObserver(listener, selector: Listener.nothing, name: Self.name, object: nil) }
        listener = nil
        #expect(weakly == nil)
        center.post(name: Self.name, object: nil)
    }

    @Test func manyThatGoAwayAreForgotten() {
        let center = NotificationCenter()
        let stays = Listener(center)
        center.addObserver(stays, selector: Listener.nothing, name: Self.name, object: nil)
        for _ in 0..<1_000 {
            let listener = Listener(center)
            center.addObserver(listener, selector: Listener.nothing, name: Self.name, object: nil)
        }
        center.post(name: Self.name, object: nil)
        #expect(stays.heard.count == 1)
    }

    @Test func tokenOfABlockIsRemovedAsBefore() {
        let center = NotificationCenter()
        nonisolated(unsafe) var count = 0
        let token = center.addObserver(forName: Self.name, object: nil, queue: nil) { _ in count += 1 }
        center.post(name: Self.name, object: nil)
        center.removeObserver(token)
        center.post(name: Self.name, object: nil)
        #expect(count == 1)
    }

    @Test func poolReturnsAndThrowsWhatItsBodyDoes() throws {
        #expect(autoreleasepool { 1 } == 1)
        #expect(throws: CocoaError.self) { try autoreleasepool { throw CocoaError(.fileNoSuchFile) } }
    }
}
