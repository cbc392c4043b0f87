import CoreDataModel

/// Finds the spelling of properties whose names a store has in capitals.
struct InferredSpelling {
    /// By the name in capitals, the spelling in an index or a trigger.
    private var known: [String: String] = [:]
    /// By the name in capitals, the spelling of an entity's name with a lower-case first letter.
    private var entities: [String: String] = [:]
    private let indexNames: Set<String>

    init(_ outline: StoreOutline) {
        indexNames = Set(outline.schemaNames.map { $0.uppercased() })
        // Z_Chat_UNIQUE_accountId_chat, Z_Book_title, Z_DA_ZPAGE_Book_pagesCount_SOURCE_INSERT
        let columns = Set(outline.tables.flatMap { $0.columns.map { $0.name.uppercased() } })
        for name in outline.schemaNames where name.hasPrefix("Z_") {
            for part in name.split(separator: "_") {
                let capitals = part.uppercased()
                guard part != capitals, columns.contains("Z" + capitals) else { continue }
                known[capitals] = known[capitals] ?? String(part)
            }
        }
        for entity in outline.entities {
            entities[entity.name.uppercased()] = Self.small(entity.name)
            entities[Self.plural(of: entity.name).uppercased()] = Self.plural(of: entity.name)
        }
    }

    /// Returns whether the column has an index with the name of a foreign key's index.
    func hasIndex(on column: String, of table: String) -> Bool {
        indexNames.contains("\(table)_\(column)_INDEX".uppercased())
    }

    func property(_ stem: String) -> String { legal(known[stem] ?? stem.lowercased()) }

    func relationship(_ stem: String) -> String { legal(known[stem] ?? entities[stem] ?? stem.lowercased()) }

    /// Makes a name valid. A store's model never has such a name; with another one, the column would not be found.
    private func legal(_ name: String) -> String {
        ReservedNames.contains(name) ? name.prefix(1).uppercased() + name.dropFirst() : name
    }

    /// Returns the best matching entity and its score: 100 for an equal or plural name, 60 and more if one name ends
    /// with the other.
    func bestEntity(
        for stem: String, among candidates: [(number: Int64, name: String)]
    ) -> (entity: Int64, score: Int)? {
        var best: (entity: Int64, score: Int)?
        for candidate in candidates {
            let score = Self.score(stem, candidate.name)
            if score > best?.score ?? 0 { best = (candidate.number, score) }
        }
        return best
    }

    private static func score(_ stem: String, _ entity: String) -> Int {
        let capitals = entity.uppercased()
        if stem == capitals { return 100 }
        // `parentFolder` → Folder; `photo` → Item_Photo
        if stem.hasSuffix(capitals), capitals.count > 2 { return 60 + capitals.count }
        let ends = words(of: entity).indices.dropFirst().map { words(of: entity)[$0...].joined().uppercased() }
        if let end = ends.first(where: { $0 == stem }) { return 60 + end.count * 20 / capitals.count }
        return 0
    }

    /// Splits `LocationAtHome` into Location, At, Home; `Item_Photo` into Item, Photo.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        for character in name {
            if character == "_" {
                words.append("")
            } else if character.isUppercase || words.isEmpty {
                words.append(String(character))
            } else {
                words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }
    }

    /// Returns `locationAtHome` for `LocationAtHome`, `url` for `URL`, `urlList` for `URLList`.
    static func small(_ name: String) -> String {
        let capitals = name.prefix(while: \.isUppercase)
        if capitals.count == name.count { return name.lowercased() }
        let count = max(1, capitals.count - 1)
        return name.prefix(count).lowercased() + name.dropFirst(count)
    }

    /// Returns `items` for `Item`, `categories` for `Category`, `boxes` for `Box`.
    static func plural(of name: String) -> String {
        let name = small(name)
        if let last = name.last, last == "y", let before = name.dropLast().last, !"aeiou".contains(before) {
            return name.dropLast() + "ies"
        }
        return name + (["s", "x", "ch", "sh"].contains { name.hasSuffix($0) } ? "es" : "s")
    }
}
