import Testing

/// To add an attribute type must stay small: a case, a row of a table, its public names. What all types of a kind have
/// in common goes by `ValueKind`, so few files name a type at all.
@Suite struct AttributeTypeTests {
    /// The most files that adding a type may touch.
    private static let limit = 6

    /// Types that few models have, as the engine and Apple's enumeration spell them. Others have names of other things,
    /// too.
    private static let rare: [(type: String, long: String)] = [
        ("uuid", "UUIDAttributeType"), ("uri", "URIAttributeType"), ("float", "floatAttributeType"),
        ("integer16", "integer16AttributeType"), ("integer32", "integer32AttributeType"),
    ]

    /// Targets that cannot know an attribute type, as they import nothing that has one: their enumerations are others.
    private static let ignorant: Set<String> = [
        "CoreDataPrimitives", "CoreDataPredicate", "CoreDataSQL", "CoreDataSQLite", "CoreDataPostgreSQLDriver",
        "CoreDataXML", "CoreDataSyncEngine",
    ]

    /// Targets that have tables of their own, each with the most files that may name a type.
    private static let tables = [
        "SwiftData": 3, "CoreDataServiceClient": 3, "CoreDataSync": 2, "CoreDataSyncSimulation": 2,
    ]

    /// Models in code: a new type of attributes changes none of them.
    private static let models: Set<String> = [
        "Sources/CoreDataServiceClient/Queue/ChangeQueue.swift", "Sources/CoreDataSync/Sidecar/SidecarModel.swift",
    ]

    @Test(arguments: rare.map(\.type))
    func fewFilesNameAType(_ type: String) throws {
        let long = try #require(Self.rare.first { $0.type == type }).long
        var files: [String] = []
        for target in try Repository.targets() where !Self.ignorant.contains(target) {
            for (path, text) in try Repository.sources(of: target)
            where !Self.models.contains(path) && text.names(type: type, long: long) {
                files.append(path)
            }
        }
        #expect(files.contains("Sources/CoreDataModel/Compiled/AttributeType.swift"))
        #expect(files.contains("Sources/CoreData/Model/NSAttributeType.swift"))
        var others = files
        for (target, limit) in Self.tables {
            let own = files.filter { $0.hasPrefix("Sources/\(target)/") }
            #expect(own.count <= limit, "\(own) name .\(type)")
            others.removeAll(where: own.contains)
        }
        #expect(
            others.count <= Self.limit,
            "\(others) name .\(type): look up its traits, or go by its kind; see docs/first-contribution.md")
    }

    /// So that the test above can fail.
    @Test(arguments: [
        ("case .uuid: 1", true), ("kind == .uuid ? 1 : 2", true), ("[.uuid, .string]", true), ("f(.uuid)", true),
        ("a.type = .UUIDAttributeType", true), ("AttributeType.uuid", true), ("case uuid = 1100", true),
        (".uuid(value)", false), ("case .uuid(let value): 1", false), ("value.uuid", false), ("UUID().uuid", false),
        ("// .uuid", false), ("\".uuid\"", false), ("let uuid = 1", false), (".uuidString", false),
        ("ids.map(\\.uuid)", false),
    ])
    func namesAreFound(source: String, isFound: Bool) {
        #expect(SourceText(source).names(type: "uuid", long: "UUIDAttributeType") == isFound)
    }
}

extension SourceText {
    /// Whether a line names the attribute type: `.uuid` without a base and without a value, which would be a value of
    /// the engine's, or a declaration of it.
    fileprivate func names(type: String, long: String) -> Bool {
        lines.contains { line in
            if line.contains(long) { return true }
            guard line.contains(type) else { return false }
            let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            if words.first == "case", words.dropFirst().first == Substring(type), !line.contains(".\(type)") {
                return !line.contains("\(type)(")
            }
            return line.ranges(of: ".\(type)").contains { range in
                let before = range.lowerBound == line.startIndex ? " " : line[line.index(before: range.lowerBound)]
                let after = range.upperBound == line.endIndex ? " " : line[range.upperBound]
                let isMember = before.isLetter || before.isNumber || "_)]?!\\".contains(before)
                let isOfTheType = line[..<range.lowerBound].hasSuffix("AttributeType")
                return (!isMember || isOfTheType) && !(after.isLetter || after.isNumber || after == "_" || after == "(")
            }
        }
    }
}
