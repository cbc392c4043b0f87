import CoreDataPorting
import Testing

/// Sources that use SwiftData: models and contexts stay, views and what feeds them are left out.
@Suite struct SwiftDataTests {
    private static let item = "@Model final class Item {\n    var name = \"\"\n    init() {}\n}\n"

    @Test(arguments: [
        "import SwiftData\n" + item,
        "import Foundation\nimport SwiftData\n@ModelActor actor Keeper {\n"
            + "    func names() throws -> [String] { try modelContext.fetch(FetchDescriptor<Item>()).map(\\.name) }\n}\n",
        "import SwiftData\nstruct Query {}\nlet query = Query()\n",
        "import SwiftData\n#if canImport(SwiftUI)\nimport SwiftUI\nstruct Items: View { @Query var items: [Item] }\n#endif\n",
        "#if canImport(SwiftData)\nimport SwiftData\nlet container: ModelContainer? = nil\n#endif\n",
        // Another module's name.
        "import Records\nlet all = Query()\n",
    ])
    func sourcesWithoutViewsStay(text: String) throws {
        try check(text, becomes: text)
        #expect(try port(text).remarks.isEmpty)
    }

    @Test(arguments: [
        (
            "import SwiftData\nimport SwiftUI\n\n" + item
                + "\nstruct Items: View {\n    @Environment(\\.modelContext) private var context\n"
                + "    @Query(sort: \\Item.name) private var items: [Item]\n    var body: some View { Text(\"\") }\n}\n"
                + "\n@main struct Shop: App {\n"
                + "    var body: some Scene { WindowGroup { Items() }.modelContainer(for: Item.self) }\n}\n",
            "import SwiftData\n#if canImport(SwiftUI)\nimport SwiftUI\n#else\nimport Foundation\n#endif\n\n" + item
                + "\n#if canImport(SwiftUI)\nstruct Items: View {\n    @Environment(\\.modelContext) private var context\n"
                + "    @Query(sort: \\Item.name) private var items: [Item]\n    var body: some View { Text(\"\") }\n}\n#endif\n"
                + "\n#if canImport(SwiftUI)\n@main struct Shop: App {\n"
                + "    var body: some Scene { WindowGroup { Items() }.modelContainer(for: Item.self) }\n}\n#endif\n"
        ),
        // SwiftUI may be imported by another source.
        (
            "import SwiftData\nfinal class Lister {\n    @Query var items: [Item]\n"
                + "    func count() -> Int { items.count }\n    func other() {}\n}\n",
            "import SwiftData\nfinal class Lister {\n    #if canImport(SwiftUI)\n    @Query var items: [Item]\n    #endif\n"
                + "    #if canImport(SwiftUI)\n    func count() -> Int { items.count }\n    #endif\n    func other() {}\n}\n"
        ),
        (
            "import SwiftData\nimport SwiftUI\n" + item
                + "@MainActor let sample = try? ModelContainer(for: Item.self)\nstruct Items: View {}\n#Preview { Items() }\n",
            "import SwiftData\n#if canImport(SwiftUI)\nimport SwiftUI\n#else\nimport Foundation\n#endif\n" + item
                + "@MainActor let sample = try? ModelContainer(for: Item.self)\n"
                + "#if canImport(SwiftUI)\nstruct Items: View {}\n#endif\n"
                + "#if canImport(SwiftUI)\n#Preview { Items() }\n#endif\n"
        ),
    ])
    func viewsAreLeftOut(before: String, after: String) throws { try check(before, becomes: after) }

    @Test(arguments: [
        "import SwiftData\nimport SwiftUI\nstruct Items: View { @Query var items: [Item] }\nstruct Rest {}\n",
        "import SwiftData\nimport SwiftUI\nstruct Items: View { @Query var items: [Item] }\n",
        "import SwiftData\nfinal class Lister {\n    @Query var items: [Item]\n    func other() {}\n}\n",
    ])
    func modelQueryIsNamedInPlaceOfQuery(text: String) throws {
        let remark = try #require(port(text).remarks.first { $0.message.contains("'Query'") })
        #expect(remark.message == "left out: 'Query' needs SwiftUI, which does not exist here")
        #expect(remark.hint?.contains("ModelQuery(filter:sort:in:)") == true)
    }

    @Test func swiftDataIsNoModuleOfOthers() throws {
        #expect(try port("import SwiftData\nimport Alamofire\n").otherModules.map(\.name) == ["Alamofire"])
    }
}
