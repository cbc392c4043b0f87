import CoreDataSQL
import CoreDataStore
import Foundation
import SwiftData
import TestSupport
import Testing

@testable import CoreData

/// Statements that to-many relationships cost (B10, complaint 20): counting members and adding one reads no member's row.
@Suite struct ToManyReadingTests {
    private let context: ModelContext
    private let dishes: [Dish]

    /// Three dishes of a file, with three steps and two labels each, that a context has read without their relationships.
    init() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("dishes.store")
        func open() throws -> ModelContext {
            ModelContext(
                try ModelContainer(for: Dish.self, DishOrder.self, configurations: ModelConfiguration(url: url)))
        }
        let writer = try open()
        for name in ["Pie", "Soup", "Stew"] {
            let dish = Dish(name: name)
            dish.steps = ["Cut", "Boil", "Eat"].map { DishStep(text: "\(name) \($0)") }
            dish.labels = ["hot", "new"].map { DishLabel(title: "\(name) \($0)") }
            writer.insert(dish)
        }
        try writer.save()
        context = try open()
        dishes = try context.fetch(FetchDescriptor<Dish>(sortBy: [SortDescriptor(\.name)]))
    }

    private func statements(_ body: () throws -> Void) throws -> [String] {
        let engine = try #require(context.container.coordinator.attachedStores[0].source as? StoreEngine)
        let recorder = SQLRecorder()
        engine.database.setObserver(recorder)
        defer { engine.database.setObserver(nil) }
        try body()
        return recorder.work
    }

    private func readsRows(_ statements: [String]) -> Bool {
        statements.contains { $0.contains("ZTEXT") && $0.hasPrefix("SELECT") }
    }

    @Test func countingReadsKeys() throws {
        let found = try statements { #expect(dishes[0].steps.count == 3 && !dishes[0].steps.isEmpty) }
        #expect(found.count == 1 && !readsRows(found), "\(found)")
        #expect(dishes[0].steps.allSatisfy { $0.modelObject?.isFault == true })
        let labels = try statements { #expect(dishes[0].labels.count == 2) }
        #expect(labels.count == 1 && !labels[0].contains("ZTITLE"), "\(labels)")
        // It stays so for the next ones.
        let others = try statements { #expect(dishes.map(\.steps.count) == [3, 3, 3]) }
        #expect(others.count == 2 && !readsRows(others), "\(others)")
    }

    @Test func appendingReadsNoRows() throws {
        let found = try statements {
            dishes[0].steps.append(DishStep(text: "Wash up"))
            try context.save()
        }
        #expect(!readsRows(found), "\(found)")
        #expect(dishes[0].steps.map(\.text) == ["Pie Cut", "Pie Boil", "Pie Eat", "Wash up"])
        #expect(dishes[0].steps.allSatisfy { $0.dish === dishes[0] })
    }

    /// By the other side, nothing is read at all.
    @Test func addingByTheOtherSideReadsNothing() throws {
        let step = DishStep(text: "Wash up")
        let found = try statements {
            context.insert(step)
            step.dish = dishes[0]
        }
        #expect(found.isEmpty, "\(found)")
        #expect(dishes[0].steps.count == 4)
    }

    @Test func membersAreReadTogetherWhenOneIsUsed() throws {
        let first = try statements { #expect(dishes[0].steps.map(\.text) == ["Pie Cut", "Pie Boil", "Pie Eat"]) }
        #expect(first.count == 2 && readsRows(first), "\(first)")
        // From then on the relationship is read with the rows.
        let second = try statements { #expect(dishes[1].steps.map(\.text).count == 3) }
        #expect(second.count == 1 && readsRows(second), "\(second)")
    }

    /// Rows that were not read are deleted by the rules, and members can be taken out.
    @Test func unreadMembersAreRemovedAndDeleted() throws {
        dishes[0].steps.removeFirst()
        dishes[1].steps = []
        context.delete(dishes[2])
        try context.save()
        let left = FetchDescriptor<DishStep>(sortBy: [SortDescriptor(\.text)])
        #expect(
            try context.fetch(left).map { "\($0.text): \($0.dish?.name ?? "-")" } == [
                "Pie Boil: Pie", "Pie Cut: -", "Pie Eat: Pie", "Soup Boil: -", "Soup Cut: -", "Soup Eat: -",
            ])
    }

    /// A member that another context deleted meanwhile is none any more; one whose row is gone without notice has no value.
    @Test func membersThatAreGone() throws {
        let steps = dishes[0].steps
        let other = ModelContext(context.container)
        let boil = try #require(other.model(for: steps[1].persistentModelID) as? DishStep)
        other.delete(boil)
        try other.save()
        _ = try context.fetchCount(FetchDescriptor<Dish>())
        #expect(dishes[0].steps.map(\.text) == ["Pie Cut", "Pie Eat"])
    }

    @Test func readingKeysIsTriedAgain() {
        var reads = MemberReads()
        let relationship = MemberReads.relationship(3, 7)
        let first = reads.beginsWithKeys(relationship)
        reads.noteUse(relationship)
        let next = (0..<9).map { _ in reads.beginsWithKeys(relationship) }
        #expect(first && next == Array(repeating: false, count: 8) + [true])
        reads.noteUse(relationship)
        let other = reads.beginsWithKeys(MemberReads.relationship(3, 8))
        #expect(other)
    }
}
