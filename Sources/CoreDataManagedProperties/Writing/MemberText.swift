/// The source that makes members of one class accessible to key-value coding.
///
///     extension App.Person {
///         static func _member_Person_isAdult(_ object: App.Person) -> Any? { ManagedMemberList.value(object.isAdult) }
///     }
///     final class _PersonMembers: ManagedMembers {
///         override class var managedClass: NSManagedObject.Type { App.Person.self }
///         override class func list(in members: inout ManagedMemberList) {
///             members.addProperty("isAdult", get: App.Person._member_Person_isAdult)
///         }
///     }
///
/// The functions belong to the class, so that they have the isolation of its members.
package struct MemberText {
    /// The spelling of the class.
    private let type: String
    /// The path: `Outer_Person`.
    private let path: String
    private var functions: [String] = []
    private var entries: [String] = []
    private var usedKeys: [String: Set<[String]>] = [:]

    package init(type: String, path: String) {
        self.type = type
        self.path = path.replacing(".", with: "_")
    }

    package var isEmpty: Bool { entries.isEmpty }

    /// The name of the class that lists the members.
    package var listName: String { "_\(path)Members" }

    /// Lists a member under its key, unless it is already listed under the same conditions.
    ///
    /// - Parameters:
    ///   - key: the key, if it differs from the member's name.
    ///   - conditions: the enclosing `#if` conditions.
    package mutating func add(_ member: MemberSyntax, key: String? = nil, conditions: [String] = []) {
        let key = key ?? member.name
        guard usedKeys[key, default: []].insert(conditions).inserted else { return }
        let isolation = member.isOnMainActor ? "@MainActor " : ""
        let name = "_member_\(path)_\(key)"
        let head = "    \(isolation)static func \(name)(_ object: \(type)"
        var lines: [String]
        let entry: String
        switch member.role {
        case .property(let isSettable):
            lines = ["\(head)) -> Any? { ManagedMemberList.value(object.\(member.spelling)) }"]
            var setter = ""
            if isSettable {
                lines.append(
                    "    \(isolation)static func \(name)_set(_ object: \(type), _ value: Any?) { ManagedMemberList.set(value, "
                        + "forKey: \"\(key)\", of: object) { object.\(member.spelling) = $0 } }")
                setter = ", set: \(type).\(name)_set"
            }
            entry = "        members.addProperty(\"\(key)\", get: \(type).\(name)\(setter))"
        case .method:
            lines = ["\(head)) -> Any? { ManagedMemberList.value(object.\(member.spelling)()) }"]
            entry = "        members.addProperty(\"\(key)\", get: \(type).\(name))"
        case .validator:
            lines = [
                "\(head), _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws { "
                    + "try object.\(member.spelling)(value) }"
            ]
            entry = "        members.addValidator(ofKey: \"\(member.name.dropFirst(8))\", \(type).\(name))"
        }
        // Avoids a warning for the access to a deprecated member.
        lines = lines.map { "    @available(*, deprecated)\n" + $0 }
        functions += Self.conditional(lines, conditions)
        entries += Self.conditional([entry], conditions)
    }

    private static func conditional(_ lines: [String], _ conditions: [String]) -> [String] {
        if conditions.isEmpty { return lines }
        return ["#if " + conditions.map { "(\($0))" }.joined(separator: " && ")] + lines + ["#endif"]
    }

    /// Returns the text. If the module may contain several lists for the class, the list is nested in the type `outer`.
    package func text(in outer: String? = nil) -> String {
        """
        extension \(type) {
        \(functions.joined(separator: "\n"))
        }
        \(outer.map { "enum \($0)_\(path) {\n" } ?? "")final class \(listName): ManagedMembers {
            nonisolated override class var managedClass: NSManagedObject.Type { \(type).self }
            @available(*, deprecated)
            nonisolated override class func list(in members: inout ManagedMemberList) {
        \(entries.joined(separator: "\n"))
            }
        }\(outer == nil ? "" : "\n}")

        """
    }
}
