import CoreDataStudio
import Foundation
import Testing

@Suite struct CompletionTests {
    private struct Answer: Decodable {
        struct Item: Decodable { var text: String }
        var start: Int
        var end: Int
        var items: [Item]
    }

    /// By text, what the first items are; `|` is the caret.
    @Test(
        arguments: [
            ("|", ["bought", "code"]), ("na|", ["name"]), ("name |", ["==", "!="]), ("name BE|", ["BEGINSWITH[cd]"]),
            ("name == |", ["''", "nil"]), ("isListed == |", ["YES", "NO"]), ("name == 'a' |", ["AND", "OR"]),
            ("name == 'a' AND |", ["bought", "code"]), ("unit.|", ["items", "name"]), ("unit.na|", ["name"]),
            ("ANY |", ["bought", "code"]), ("name == 'na|", []), ("name == 'é🧀' AND na|", ["name"]),
            ("(na| == 'x')", ["name"]), ("count > 3 |", ["AND", "OR"]), ("nothing.x|", []),
            ("bought > |", ["'2026-01-01'"]),
        ] as [(String, [String])])
    func wordsFollow(text: String, first: [String]) async throws {
        let store = try StudioStore.make(StudioStore.shop) { _ in }
        let client = try await StudioStore.client(store)
        let parts = text.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        let address = Address("store", "complete", "Item").with("text", parts.joined())
            .with("caret", String(parts[0].utf16.count))
        let answer = try JSONDecoder().decode(Answer.self, from: try await client.get(address.text).data)
        #expect(Array(answer.items.map(\.text).prefix(first.count)) == first)
        if first.isEmpty { #expect(answer.items.isEmpty) }
        #expect(answer.end == parts[0].utf16.count && answer.start <= answer.end)
    }
}
