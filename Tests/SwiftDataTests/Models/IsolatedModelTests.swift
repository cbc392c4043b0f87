import CoreData
import Foundation
import SwiftData
import Testing

/// Models with an explicit `@MainActor`, in the Swift 6 language mode.
@Suite struct IsolatedModelTests {
    @MainActor @Model class Page {
        var id = UUID()
        var title: String
        var length = 1 {
            didSet { title += "!" }
        }
        @Relationship(deleteRule: .cascade, inverse: \Mark.page) var marks: [Mark] = []
        init(title: String) { self.title = title }
    }

    @MainActor @Model final class Mark {
        var page: Page?
        init() {}
    }

    @Model final class Chapter: Page {
        var number: Int
        init(number: Int) {
            self.number = number
            super.init(title: "Chapter \(number)")
        }
    }

    /// The container and its schema are made off the main actor.
    private static func container() throws -> ModelContainer {
        try ModelContainer(
            for: Page.self, Mark.self, Chapter.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }

    @Test func isolatedModelsAreStored() async throws {
        let container = try await Task.detached { try Self.container() }.value
        try await MainActor.run {
            let page = Page(title: "One")
            page.marks = [Mark(), Mark()]
            container.mainContext.insert(page)
            container.mainContext.insert(Chapter(number: 2))
            page.length = 3
            try container.mainContext.save()
            // Predicates and sort descriptors take no key paths of isolated properties.
            let found = try container.mainContext.fetch(FetchDescriptor<Page>()).filter { $0.length == 3 }
            #expect(found.map(\.title) == ["One!"] && found.first?.marks.count == 2)
            #expect(found.first.map { AnyHashable($0.id) } == AnyHashable(page.id))
            #expect(try container.mainContext.fetch(FetchDescriptor<Chapter>()).map(\.number) == [2])
        }
    }

    /// A context of another queue fetches, counts and deletes such models without their properties.
    @Test func otherContextsMakeAndDeleteThem() async throws {
        let container = try Self.container()
        try await MainActor.run {
            for number in 1...3 { container.mainContext.insert(Chapter(number: number)) }
            try container.mainContext.save()
        }
        let left = try await Task.detached {
            let context = ModelContext(container)
            let chapters = try context.fetch(FetchDescriptor<Chapter>())
            guard let first = chapters.first else { return (0, 0) }
            context.delete(first)
            try context.save()
            return (chapters.count, try context.fetchCount(FetchDescriptor<Chapter>()))
        }.value
        #expect(left == (3, 2))
    }
}
