/// What a generated method of a to-many relationship does, by its name, labels and types.
///
///     addToNotes(_: Note)                    // add(value, to: key)
///     insertIntoNotes(_: Note, at: Int)      // insert(value, into: key, at: index)
///     replaceNotes(at: Int, with: Note)      // replace(at: index, in: key, with: value)
///     addNotesObject(_: Note)                // the older names, the same
struct CollectionMethod {
    /// The relationship's name with a capital: `Notes`.
    var capitalizedKey: String
    /// The body, in which `KEY` stands for the key and `p0`, `p1` for the parameters.
    var body: String

    init?(name: String, labels: [String?], parameters: [MangledType]) {
        let isMany = parameters.map(\.isCollection)
        let contents = isMany.first == true ? "contentsOf: " : ""
        switch labels {
        case [nil]:
            if let key = Self.middle(of: name, "addTo", "") ?? Self.middle(of: name, "add", "Object") {
                self.init(capitalizedKey: key, body: "add(\(contents)p0, to: KEY)")
            } else if let key = Self.middle(of: name, "removeFrom", "") ?? Self.middle(of: name, "remove", "Object") {
                self.init(capitalizedKey: key, body: "remove(\(contents)p0, from: KEY)")
            } else if let key = Self.middle(of: name, "intersect", ""), isMany[0] {
                self.init(capitalizedKey: key, body: "keep(contentsOf: p0, in: KEY)")
            } else if let key = Self.middle(of: name, "add", ""), isMany[0] {
                self.init(capitalizedKey: key, body: "add(contentsOf: p0, to: KEY)")
            } else if let key = Self.middle(of: name, "remove", ""), isMany[0] {
                self.init(capitalizedKey: key, body: "remove(contentsOf: p0, from: KEY)")
            } else {
                return nil
            }
        case [nil, "at"]:
            guard let key = Self.middle(of: name, "insertInto", "") else { return nil }
            self.init(capitalizedKey: key, body: "insert(\(contents)p0, into: KEY, at: p1)")
        case ["at"]:
            guard let key = Self.middle(of: name, "removeFrom", "") else { return nil }
            self.init(capitalizedKey: key, body: "remove(at: p0, from: KEY)")
        case ["at", "with"]:
            guard let key = Self.middle(of: name, "replace", "") else { return nil }
            let contents = isMany[1] ? "contentsOf: " : ""
            self.init(capitalizedKey: key, body: "replace(at: p0, in: KEY, with\(contents.isEmpty ? "" : "ContentsOf"): p1)")
        default: return nil
        }
    }

    private init(capitalizedKey: String, body: String) {
        self.capitalizedKey = capitalizedKey
        self.body = body
    }

    private static func middle(of name: String, _ prefix: String, _ suffix: String) -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else {
            return nil
        }
        let middle = name.dropFirst(prefix.count).dropLast(suffix.count)
        // `address` is not the addition of `ress`.
        return middle.first?.isLowercase == true ? nil : String(middle)
    }
}

extension MangledType {
    /// Whether it holds several objects.
    fileprivate var isCollection: Bool {
        switch self {
        case .bound(let declaration, _): ["Set", "Array"].contains(declaration.name) && declaration.module == "Swift"
        case .nominal(let declaration):
            ["NSSet", "NSOrderedSet", "NSArray", "NSMutableSet", "NSMutableOrderedSet"].contains(declaration.name)
                && declaration.module == "Foundation"
        default: false
        }
    }
}
