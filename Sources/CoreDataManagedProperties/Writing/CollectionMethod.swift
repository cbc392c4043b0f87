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
        let forms = parameters.map(\.argumentForm)
        let isMany = forms.first.map { $0 != "PARAMETER" } ?? false
        func argument(_ index: Int) -> String { forms[index].replacing("PARAMETER", with: "p\(index)") }
        switch labels {
        case [nil]:
            if let key = Self.middle(of: name, "addTo", "") ?? Self.middle(of: name, "add", "Object")
                ?? (isMany ? Self.middle(of: name, "add", "") : nil)
            {
                self.init(capitalizedKey: key, body: "add(\(argument(0)), to: KEY)")
            } else if let key = Self.middle(of: name, "removeFrom", "") ?? Self.middle(of: name, "remove", "Object")
                ?? (isMany ? Self.middle(of: name, "remove", "") : nil)
            {
                self.init(capitalizedKey: key, body: "remove(\(argument(0)), from: KEY)")
            } else {
                return nil
            }
        case [nil, "at"]:
            guard let key = Self.middle(of: name, "insertInto", "") else { return nil }
            self.init(capitalizedKey: key, body: "insert(p0, into: KEY, at: \(argument(1)))")
        case ["at"]:
            guard let key = Self.middle(of: name, "removeFrom", "") else { return nil }
            self.init(capitalizedKey: key, body: "remove(at: \(argument(0)), from: KEY)")
        case ["at", "with"]:
            guard let key = Self.middle(of: name, "replace", "") else { return nil }
            self.init(capitalizedKey: key, body: "replace(at: \(argument(0)), with: p1, in: KEY)")
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
    /// How a parameter of the type is handed on: collections of Swift's as Foundation's. In it `PARAMETER` stands for
    /// the name; it is all of it for what is no collection.
    fileprivate var argumentForm: String {
        switch self {
        case .bound(let declaration, _) where declaration.module == "Swift":
            switch declaration.name {
            case "Set": "Foundation.NSSet(array: Swift.Array(PARAMETER))"
            case "Array": "Foundation.NSOrderedSet(array: PARAMETER)"
            default: "PARAMETER"
            }
        case .nominal(let declaration) where declaration.module.hasPrefix("Foundation"):
            switch declaration.name {
            case "NSSet", "NSOrderedSet", "NSMutableSet", "NSMutableOrderedSet": "(PARAMETER)"
            case "IndexSet": "Foundation.NSIndexSet(indexSet: PARAMETER)"
            default: "PARAMETER"
            }
        default: "PARAMETER"
        }
    }
}
