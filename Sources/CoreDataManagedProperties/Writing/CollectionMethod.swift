/// The operation of a to-many accessor method that Core Data provides, recognised by its name in Swift or in
/// Objective-C.
///
///     addToNotes(_: Note)                                                   // add
///     insertIntoNotes(_: Note, at: Int)                                     // insert
///     addNotesObject(_: Note), insertNotes(_: [Note], atIndexes: NSIndexSet)  // the older names
///     @objc(addNotesObject:) append(_: Note)                                // with any name in Swift
package struct CollectionMethod: Hashable, Sendable {
    package enum Operation: Hashable, Sendable {
        case add
        case remove
        case insert
        case removeAt
        case replace
    }

    package var operation: Operation
    /// The relationship's name, capitalised: `Notes`.
    package var capitalizedKey: String

    /// Recognises the method of a declaration; `nil` if Core Data provides no method with that name.
    ///
    /// - Parameters:
    ///   - labels: the parameters' labels; `nil` is `_`.
    ///   - selector: the Objective-C name of `@objc(…)`.
    ///   - isMany: whether the first parameter is a collection.
    ///   - isDeclared: whether the class has a property with that capitalised name: `addToDos(_:)` belongs to `toDos`
    ///     in a class that has it, else to `dos`.
    package init?(
        name: String, labels: [String?], selector: String?, isMany: Bool, isDeclared: (String) -> Bool
    ) {
        var candidates: [Self] = []
        if let selector, selector.hasSuffix(":") {
            let pieces = selector.split(separator: ":").map(String.init)
            if pieces.count == labels.count { candidates = Self.methods(of: pieces, isMany) }
        }
        if candidates.isEmpty {
            candidates = Self.method(name, labels).map { [$0] } ?? []
            if labels.first == .some(nil) {
                candidates += Self.methods(of: [name] + labels.dropFirst().map { $0 ?? "" }, isMany)
            }
        }
        guard let method = candidates.first(where: { isDeclared($0.capitalizedKey) }) ?? candidates.first else {
            return nil
        }
        self = method
    }

    private init?(_ operation: Operation, _ text: String, _ prefix: String, _ suffix: String = "") {
        guard text.hasPrefix(prefix), text.hasSuffix(suffix), text.count > prefix.count + suffix.count else {
            return nil
        }
        let key = text.dropFirst(prefix.count).dropLast(suffix.count)
        // `address` does not mean adding `ress`.
        if key.first?.isLowercase == true { return nil }
        self.operation = operation
        capitalizedKey = String(key)
    }

    /// Recognises the names that are used since Swift 3.
    private static func method(_ name: String, _ labels: [String?]) -> Self? {
        switch labels {
        case [nil]: Self(.add, name, "addTo") ?? Self(.remove, name, "removeFrom")
        case [nil, "at"]: Self(.insert, name, "insertInto")
        case ["at"]: Self(.removeAt, name, "removeFrom")
        case ["at", "with"]: Self(.replace, name, "replace")
        default: nil
        }
    }

    /// Recognises the Objective-C names, by the parts before the colons.
    private static func methods(of pieces: [String], _ isMany: Bool) -> [Self] {
        var found: [Self?] = []
        if pieces.count == 1 {
            found += [
                Self(.removeAt, pieces[0], "removeObjectFrom", "AtIndex"),
                isMany ? nil : Self(.removeAt, pieces[0], "remove", "AtIndexes"),
                Self(.add, pieces[0], "add", "Object"), Self(.remove, pieces[0], "remove", "Object"),
            ]
            if isMany { found += [Self(.add, pieces[0], "add"), Self(.remove, pieces[0], "remove")] }
        } else if pieces.count == 2 {
            if pieces[0] == "insertObject" { found.append(Self(.insert, pieces[1], "in", "AtIndex")) }
            if pieces[1] == "atIndexes" { found.append(Self(.insert, pieces[0], "insert")) }
            if pieces[1] == "withObject" { found.append(Self(.replace, pieces[0], "replaceObjectIn", "AtIndex")) }
            if let many = Self(.replace, pieces[0], "replace", "AtIndexes"), pieces[1] == "with" + many.capitalizedKey {
                found.append(many)
            }
        }
        return found.compactMap(\.self)
    }

    /// Returns the Swift code of the operation.
    ///
    /// - Parameters:
    ///   - arguments: the expressions that pass the parameters, in order.
    ///   - key: the relationship's key.
    package func body(_ arguments: [String], key: String) -> String {
        switch (operation, arguments.count) {
        case (.add, 1): "add(\(arguments[0]), to: \(key))"
        case (.remove, 1): "remove(\(arguments[0]), from: \(key))"
        case (.removeAt, 1): "remove(at: \(arguments[0]), from: \(key))"
        case (.insert, 2): "insert(\(arguments[0]), into: \(key), at: \(arguments[1]))"
        case (.replace, 2): "replace(at: \(arguments[0]), with: \(arguments[1]), in: \(key))"
        default: preconditionFailure("\(operation) of \(capitalizedKey) does not take \(arguments.count) arguments.")
        }
    }
}
