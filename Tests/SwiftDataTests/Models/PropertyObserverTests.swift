import CoreData
import Foundation
import SwiftData
import Synchronization
import Testing

/// `willSet` and `didSet` of persisted properties.
@Suite struct PropertyObserverTests {
    @Model final class Gauge {
        @Transient var log: [String] = []
        var level = 0 {
            willSet { log.append("will \(level) \(newValue)") }
            didSet(before) {
                log.append("did \(before) \(level)")
                guard level > 9 else { return }
                level = 9
                log.append("capped")
            }
        }
        var name: String {
            didSet { log.append("named") }
        }
        var parent: Gauge? {
            didSet { log.append("moved from \(oldValue?.name ?? "none")") }
        }
        @Relationship(inverse: \Gauge.parent) var children: [Gauge] = [] {
            didSet { log.append("\(children.count) children") }
        }
        @Attribute(.transformable(by: "GaugeNotes")) var notes: [String] = [] {
            didSet { log.append("notes \(oldValue.count)") }
        }
        /// Names that are not the property: a local one, a label, a member of another model, a key path.
        var width = 0 {
            didSet {
                let width = oldValue
                log.append("width \(width)")
            }
        }
        var height = 0 {
            didSet {
                let pair = (height: 1, other: parent?.height ?? -1)
                log.append("height \(pair.height) \(pair.other) \([self].map(\.height)) \(height)")
            }
        }
        var depth = 0 {
            didSet {
                let captured = { [depth = oldValue] in depth }
                log.append("depth \(captured())")
            }
        }
        init(name: String) { self.name = name }
    }

    @Test func onlyThePropertyItselfIsMeant() {
        let gauge = Gauge(name: "A")
        gauge.width = 4
        gauge.width = 5
        gauge.height = 6
        gauge.depth = 7
        #expect(gauge.log == ["width 0", "width 4", "height 1 -1 [6] 6", "depth 0"])
    }

    private func gauges() throws -> ModelContext {
        ModelContext(
            try ModelContainer(for: Gauge.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    }

    @Test func observersRunBeforeAndAfterInsertion() throws {
        let gauge = Gauge(name: "A")
        #expect(gauge.log == [], "an initializer sets without observers")
        gauge.level = 4
        #expect(gauge.log == ["will 0 4", "did 0 4"])
        let context = try gauges()
        context.insert(gauge)
        gauge.log = []
        gauge.level += 3
        gauge.name = "B"
        #expect(gauge.log == ["will 4 7", "did 4 7", "named"])
        try context.save()
        #expect(gauge.level == 7 && gauge.name == "B")
    }

    /// An observer that sets its own property runs no observer again, as in any class.
    @Test func anObserverSetsItsOwnProperty() throws {
        let (gauge, context) = (Gauge(name: "A"), try gauges())
        for _ in 0..<2 {
            gauge.log = []
            gauge.level = 12
            #expect(gauge.level == 9 && gauge.log.last == "capped" && gauge.log.count == 3, "\(gauge.log)")
            gauge.level = 0
            context.insert(gauge)
        }
        try context.save()
        #expect(gauge.level == 0)
    }

    @Test func relationshipsAndTransformablesAreObserved() throws {
        let context = try gauges()
        let (gauge, parent) = (Gauge(name: "A"), Gauge(name: "P"))
        context.insert(gauge)
        context.insert(parent)
        gauge.parent = parent
        gauge.parent = nil
        parent.children.append(gauge)
        #expect(gauge.log == ["moved from none", "moved from P"], "the other side sets without observers")
        #expect(parent.log == ["1 children"])
    }

    /// Undo, rollback and another context's save set no property.
    @Test func changesFromElsewhereCallNoObserver() throws {
        let context = try gauges()
        let gauge = Gauge(name: "A")
        context.insert(gauge)
        try context.save()
        gauge.level = 5
        gauge.log = []
        context.rollback()
        #expect(gauge.level == 0 && gauge.log == [])
        let other = ModelContext(context.container)
        let same = try #require(other.model(for: gauge.persistentModelID) as? Gauge)
        same.level = 6
        try other.save()
        #expect(try context.fetch(FetchDescriptor<Gauge>()).map(\.level) == [6] && gauge.log == [])
    }

    /// Observers of SwiftUI's kind are notified once for each set, and learn of the value that an observer sets.
    @Test func trackingAndObserversWorkTogether() {
        let gauge = Gauge(name: "A")
        let count = Mutex(0)
        withObservationTracking {
            _ = gauge.level
        } onChange: {
            count.withLock { $0 += 1 }
        }
        gauge.level = 3
        #expect(count.withLock { $0 } == 1 && gauge.log == ["will 0 3", "did 0 3"])
    }
}
