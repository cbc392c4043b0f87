import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// What apply is about to write, as bytes.
@Suite struct BegunApplyTests {
    private static func begun() -> BegunApply {
        var intended = IntendedChanges()
        intended.deleted = [ObjectKey(root: "Tag", key: 9)]
        intended.insertUpdate(ObjectKey(root: "Item", key: 3), "name")
        intended.insertUpdate(ObjectKey(root: "Item", key: 3), "note")
        let inserted = [
            BegunApply.NewObject(id: GlobalID(high: 1, low: 2), root: "Item", key: 1 << 40),
            BegunApply.NewObject(id: GlobalID(high: 1, low: 3), root: "Unit", key: 1),
        ]
        return BegunApply(inserted: inserted, intended: intended)
    }

    @Test func isReadAsItWasWritten() throws {
        let (begun, read) = (Self.begun(), try BegunApply(Self.begun().data))
        #expect(read.inserted == begun.inserted)
        #expect(read.intended.inserted.all == [ObjectKey(root: "Item", key: 1 << 40), ObjectKey(root: "Unit", key: 1)])
        #expect(read.intended.deleted == begun.intended.deleted)
        #expect(read.intended.updated == [ObjectKey(root: "Item", key: 3): ["name", "note"]])
    }

    @Test func tornBytesAreRefused() {
        let data = Self.begun().data
        for count in 0..<data.count { #expect(throws: FileFault.self) { try BegunApply(data.prefix(count)) } }
        #expect(throws: FileFault.self) { try BegunApply(data + [0]) }
        #expect(throws: FileFault.self) { try BegunApply(Data("{}".utf8)) }
    }
}
