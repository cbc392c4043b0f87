import Foundation
import Testing

@testable import CoreData

/// What is known of an object's relationships: one in the table's own word, more in memory.
@Suite struct RelationTableTests {
    private static let count = 6

    private let model = GroceryModel.make()
    private let entity: NSEntityDescription

    init() throws { entity = try #require(model.entitiesByName["Unit"]) }

    private func object() -> NSManagedObject { NSManagedObject(entity: entity, insertInto: nil) }

    /// A step of what is done to a table, and what the table says afterwards.
    private enum Step {
        case setObject(Int)
        case setNil(Int)
        case setMembers(Int)
        case forget(Int)
        case removeAll
    }

    private static let stories: [[Step]] = [
        [.setObject(0)], [.setObject(3)], [.setObject(4)], [.setObject(5)],
        [.setNil(0)], [.setNil(3)], [.setNil(4)],
        [.setMembers(0)], [.setMembers(3)], [.setMembers(5)],
        [.setObject(2), .setObject(2), .setNil(2), .setObject(2)],
        [.setObject(1), .setObject(2), .setNil(1), .setObject(5)],
        [.setNil(1), .setObject(0)], [.setNil(1), .setMembers(0)],
        [.setMembers(2), .setObject(1), .setMembers(5), .setNil(0)],
        [.setMembers(0), .forget(0), .setObject(0)], [.setObject(3), .forget(3), .setMembers(3)],
        [.setObject(3), .forget(2), .forget(3), .forget(3)],
        [.setObject(1), .setMembers(4), .forget(1), .forget(4), .setObject(1)],
        [.setObject(0), .setMembers(1), .removeAll, .setMembers(4), .removeAll], [.removeAll],
    ]

    @Test(arguments: stories.indices)
    func aTableKnowsWhatWasSetAndHoldsNothingElse(story: Int) {
        weak var lastObject: NSManagedObject?
        weak var lastMembers: ToManyMembers?
        var table = RelationTable()
        do {
            var expected: [Int: AnyObject?] = [:]
            for step in Self.stories[story] {
                switch step {
                case .setObject(let index):
                    let object = object()
                    lastObject = object
                    table.setToOne(index, object, of: Self.count)
                    expected[index] = .some(object)
                case .setNil(let index):
                    table.setToOne(index, nil, of: Self.count)
                    expected[index] = .some(nil)
                case .setMembers(let index):
                    let members = ToManyMembers(isOrdered: false, isKnown: true)
                    lastMembers = members
                    table.setMembers(index, members, of: Self.count)
                    expected[index] = .some(members)
                case .forget(let index):
                    table.forget(index)
                    expected[index] = nil
                case .removeAll:
                    table.removeAll()
                    expected = [:]
                }
                check(table, expected)
            }
        }
        table.removeAll()
        #expect(table.isEmpty)
        #expect(lastObject == nil)
        #expect(lastMembers == nil)
    }

    private func check(_ table: RelationTable, _ expected: [Int: AnyObject?]) {
        for index in 0..<Self.count {
            #expect(table.isRead(index) == (expected[index] != nil))
            let value = expected[index] ?? nil
            #expect(table.uncountedToOne(index)?.takeUnretainedValue() === value as? NSManagedObject)
            #expect(table.uncountedMembers(index)?.takeUnretainedValue() === value as? ToManyMembers)
            switch table[index] {
            case .unread: #expect(expected[index] == nil)
            case .toOne(let object): #expect(expected[index] != nil && object === value)
            case .toMany(let members): #expect(members === value)
            }
        }
        // As a collection it has at least what has been looked at.
        #expect((expected.keys.max() ?? -1) < table.count && table.count <= Self.count)
        if !expected.isEmpty { #expect(!table.isEmpty) }
    }

    @Test func whatIsReplacedIsLetGo() {
        var table = RelationTable()
        for index in [1, 5] {
            weak var first: NSManagedObject?
            do {
                let object = object()
                first = object
                table.setToOne(index, object, of: Self.count)
            }
            #expect(first != nil)
            table.setToOne(index, nil, of: Self.count)
            #expect(first == nil)
        }
        table.removeAll()
    }
}
