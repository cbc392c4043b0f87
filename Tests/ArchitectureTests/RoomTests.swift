import Foundation
import Testing

/// The section "Rooms" of docs/architecture.md names the folders that there are.
@Suite struct RoomTests {
    /// The rooms that the page names, by target.
    private static func named() throws -> [String: Set<String>] {
        let page = try String(
            contentsOf: Repository.root.appendingPathComponent("docs/architecture.md"), encoding: .utf8)
        return rooms(in: page)
    }

    /// Each target's paragraph begins with its name and a colon; what stands in parentheses is no room.
    static func rooms(in page: String) -> [String: Set<String>] {
        guard let start = page.range(of: "\n## Rooms\n") else { return [:] }
        let rest = page[start.upperBound...]
        let section = rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        var rooms: [String: Set<String>] = [:]
        for paragraph in section.replacing("\n\n", with: "\u{0}").split(separator: "\u{0}") {
            var depth = 0
            let plain = paragraph.filter { character in
                if character == "(" { depth += 1 }
                defer { if character == ")" { depth -= 1 } }
                return depth == 0
            }
            let words = plain.split(separator: "`", omittingEmptySubsequences: false)
            guard words.count > 2, words[0].allSatisfy(\.isWhitespace), words[2].hasPrefix(":") else { continue }
            rooms[String(words[1])] = Set(
                stride(from: 3, to: words.count, by: 2).map { String(words[$0]) })
        }
        return rooms
    }

    /// The folders in a target's folder that hold sources.
    private static func folders(of target: String) throws -> Set<String> {
        let prefix = "Sources/\(target)/"
        let below = try Repository.files().filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) }
        return Set(below.compactMap { path in path.firstIndex(of: "/").map { String(path[..<$0]) } })
            .subtracting(["include"])
    }

    @Test func everyRoomIsAFolderAndEveryFolderIsARoom() throws {
        let named = try Self.named()
        for target in try Repository.targets() {
            let folders = try Self.folders(of: target)
            let rooms = named[target] ?? []
            #expect(rooms.subtracting(folders) == [], "rooms of \(target) that are no folders")
            #expect(folders.subtracting(rooms) == [], "folders of \(target) that the page does not name")
        }
        #expect(Set(named.keys).subtracting(try Repository.targets()) == [], "targets that are none")
    }

    @Test func roomsAreReadFromTheirSection() {
        let page =
            "# A\n\n## Rooms\n\n`T`: `One` (with `no` room), `Two`,\n`Three`.\n\nProse of `things`.\n\n## B\n\n`U`: `X`"
        #expect(Self.rooms(in: page) == ["T": ["One", "Two", "Three"]])
    }
}
