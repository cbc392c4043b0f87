import Foundation
import Testing

/// Pages can be found from docs/README.md, and links lead to files and headings that exist.
@Suite struct DocumentationTests {
    private static func text(of path: String) throws -> String {
        try String(contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The README and every page of `docs`.
    private static func pages() throws -> [String] {
        try Repository.files().filter { $0 == "README.md" || $0.hasPrefix("docs/") && $0.hasSuffix(".md") }
    }

    /// The lines of a page that are not in a fenced block of code, with their numbers.
    static func prose(of page: String) -> [(number: Int, line: Substring)] {
        var isCode = false
        var lines: [(number: Int, line: Substring)] = []
        for (index, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
            } else if !isCode {
                lines.append((index + 1, line))
            }
        }
        return lines
    }

    /// What a line links to, in the order of the links. A link in a span of code is none.
    static func targets(in line: some StringProtocol) -> [String] {
        // Every second part is code; its length does not matter, its links do not count.
        let parts = line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        let plain = parts.map { $0.offset.isMultiple(of: 2) ? String($0.element) : "" }.joined()
        return plain.components(separatedBy: "](").dropFirst().compactMap { rest in
            rest.firstIndex(of: ")").map { String(rest[..<$0]) }
        }
    }

    /// The fragment by which a web page of the text has a heading, as GitHub makes it.
    static func fragment(ofHeading text: some StringProtocol) -> String {
        let kept = text.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
        return kept.replacing(" ", with: "-")
    }

    /// The fragments of all headings of a page; a second heading of one text has a number behind it.
    static func fragments(of page: String) -> Set<String> {
        var counts: [String: Int] = [:]
        var fragments: Set<String> = []
        for (_, line) in prose(of: page) {
            let marks = line.prefix { $0 == "#" }
            guard (1...6).contains(marks.count), line.dropFirst(marks.count).first == " " else { continue }
            let fragment = fragment(ofHeading: line.dropFirst(marks.count + 1))
            let count = counts[fragment, default: 0]
            counts[fragment] = count + 1
            fragments.insert(count == 0 ? fragment : "\(fragment)-\(count)")
        }
        return fragments
    }

    /// The path from the root that a link on a page has, without its fragment; `nil` for what is not in the repository.
    static func path(of target: String, on page: String) -> (file: String, fragment: String?)? {
        guard !target.contains("://"), !target.hasPrefix("mailto:") else { return nil }
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let fragment = parts.count == 2 ? String(parts[1]) : nil
        guard !parts[0].isEmpty else { return (page, fragment) }
        var steps = page.split(separator: "/").dropLast().map(String.init)
        for step in parts[0].split(separator: "/") where step != "." {
            // Above the root nothing is of the repository; the file of that name is then missing.
            if step == "..", !steps.isEmpty { steps.removeLast() } else { steps.append(String(step)) }
        }
        return (steps.joined(separator: "/"), fragment)
    }

    @Test func everyRelativeLinkLeadsToAFileAndAHeading() throws {
        let pages = try Self.pages()
        var count = 0
        for page in pages {
            for (number, line) in Self.prose(of: try Self.text(of: page)) {
                for target in Self.targets(in: line) {
                    guard let (file, fragment) = Self.path(of: target, on: page) else { continue }
                    count += 1
                    let exists = FileManager.default.fileExists(
                        atPath: Repository.root.appendingPathComponent(file).path)
                    #expect(exists, "\(page):\(number): no file at '\(target)'")
                    guard exists, let fragment, file.hasSuffix(".md") else { continue }
                    #expect(
                        Self.fragments(of: try Self.text(of: file)).contains(fragment),
                        "\(page):\(number): no heading '#\(fragment)' in \(file)")
                }
            }
        }
        #expect(pages.count > 40 && count > 100, "\(count) links on \(pages.count) pages")
    }

    @Test func everyPageIsInTheIndex() throws {
        let index = "docs/README.md"
        let entries = try Self.prose(of: Self.text(of: index)).filter { $0.line.hasPrefix("- [") }
        let listed = entries.compactMap { entry in
            Self.targets(in: entry.line).first.flatMap { Self.path(of: $0, on: index)?.file }
        }
        #expect(listed.count == entries.count, "each line begins with a link")
        #expect(Set(listed).count == listed.count, "each page has one line")
        let guides = try Repository.files().filter {
            $0.hasPrefix("Sources/CoreData/CoreData.docc/") && $0.hasSuffix(".md")
        }
        let expected = try Self.pages().filter { $0 != index && $0 != "README.md" } + guides
        let missing = Set(expected).subtracting(listed).sorted()
        #expect(missing.isEmpty, "\(index) has no line for \(missing)")
    }

    @Test(arguments: [
        ("See [a](x.md) and [b](../y.md#z).", ["x.md", "../y.md#z"]),
        ("| ![picture](images/p.png) | `[no](link.md)` |", ["images/p.png"]),
        ("[`code`](a.md), f(x)[0]", ["a.md"]),
        ("none", []),
    ])
    func linksAreFoundInLines(line: String, targets: [String]) {
        #expect(Self.targets(in: line) == targets)
    }

    @Test(
        arguments: [
            ("docs/a.md", "b.md", "docs/b.md", nil), ("docs/a.md", "#top", "docs/a.md", "top"),
            ("docs/decisions/a.md", "../b.md#c-d", "docs/b.md", "c-d"), ("README.md", "./docs/a.md", "docs/a.md", nil),
        ] as [(String, String, String, String?)])
    func linksAreRelativeToTheirPage(page: String, target: String, file: String, fragment: String?) {
        let path = Self.path(of: target, on: page)
        #expect(path?.file == file)
        #expect(path?.fragment == fragment)
    }

    @Test func headingsHaveFragments() {
        let page = "# A `B`: c, d\n\n```\n# no\n```\n## Part\n## Part\n#none\n"
        #expect(Self.fragments(of: page) == ["a-b-c-d", "part", "part-1"])
        #expect(Self.path(of: "https://example.org/a.md", on: "README.md") == nil)
    }
}
