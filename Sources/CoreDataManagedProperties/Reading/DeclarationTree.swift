import SwiftSyntax

/// The access level of a declaration; ordered.
enum Access: Int, Comparable {
    case `private`, `fileprivate`, `internal`, `package`, `public`

    static func < (one: Access, other: Access) -> Bool { one.rawValue < other.rawValue }

    var isOfFile: Bool { self <= .fileprivate }
}

/// A module whose declarations can be named: the target itself, one of its dependencies, or one of the toolchain.
final class Module {
    let name: String
    /// The declarations at file level, by name.
    var types: [String: [TypeNode]] = [:]
    /// The modules that it re-exports with `@_exported import`.
    var exported: Set<String> = []

    init(_ name: String) { self.name = name }
}

/// A source file and its data for resolving names.
final class SourceFile {
    let path: String
    unowned let module: Module
    /// The text of each import by the module's name, with attributes and access level.
    var imports: [String: String] = [:]
    let lines: [Substring]
    let converter: SourceLocationConverter?

    init(path: String, module: Module, text: String, converter: SourceLocationConverter?) {
        self.path = path
        self.module = module
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        self.converter = converter
    }

    var name: String { path.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? path }
}

/// The context of a declaration.
enum Owner {
    case file(SourceFile)
    case type(TypeNode)
    case `extension`(ExtensionNode)

    var file: SourceFile? {
        switch self {
        case .file(let file): file
        case .type(let type): type.file
        case .extension(let node): node.file
        }
    }

    /// The type that contains the declaration.
    var type: TypeNode? {
        switch self {
        case .file: nil
        case .type(let type): type
        case .extension(let node): node.extended
        }
    }
}

/// A declared type or alias.
final class TypeNode {
    enum Kind: Equatable {
        case nominal(NominalDeclaration.Kind)
        case alias(TypeSyntax)
    }

    let kind: Kind
    let name: String
    let module: Module
    let owner: Owner
    let access: Access
    let conditions: [String]
    let genericParameters: [String]
    /// The inheritance clause.
    let inherited: [TypeSyntax]
    /// The types and aliases declared inside it and in extensions.
    var members: [String: [TypeNode]] = [:]

    init(
        _ kind: Kind, name: String, module: Module, owner: Owner, access: Access, conditions: [String] = [],
        genericParameters: [String] = [], inherited: [TypeSyntax] = []
    ) {
        self.kind = kind
        self.name = name
        self.module = module
        self.owner = owner
        self.access = access
        self.conditions = conditions
        self.genericParameters = genericParameters
        self.inherited = inherited
    }

    /// `nil` for a type of the toolchain.
    var file: SourceFile? { owner.file }

    /// Whether it, or an enclosing type, is visible only in its file.
    var isOfFile: Bool { access.isOfFile || owner.type?.isOfFile == true }

    /// The access level, limited by the enclosing types.
    var effectiveAccess: Access { min(access, owner.type?.effectiveAccess ?? .public) }

    var isGeneric: Bool { !genericParameters.isEmpty || owner.type?.isGeneric == true }

    /// The path: `Library.Shelf`.
    var path: String { (owner.type.map { $0.path + "." } ?? "") + name }
}

/// An extension, whose type is resolved later.
final class ExtensionNode {
    let file: SourceFile
    let typeSyntax: TypeSyntax
    /// The access level of members without an explicit one.
    let access: Access?
    let conditions: [String]
    var extended: TypeNode?
    /// Whether ordinary code can read the members declared in it.
    var allowsMembers = true
    var isOnMainActor = false
    var types: [TypeNode] = []

    init(file: SourceFile, typeSyntax: TypeSyntax, access: Access?, conditions: [String]) {
        self.file = file
        self.typeSyntax = typeSyntax
        self.access = access
        self.conditions = conditions
    }
}

/// A property or method marked `@NSManaged`.
struct ManagedDeclaration {
    enum Shape {
        case variable(TypeSyntax)
        case method(parameters: [Parameter], returnsValue: Bool)
    }

    struct Parameter {
        var label: String?
        var type: TypeSyntax
    }

    var name: String
    var shape: Shape
    var owner: Owner
    var access: Access
    var conditions: [String]
    /// The Objective-C name of `@objc(…)`.
    var objectiveCName: String?
    /// The position of its name.
    var position: AbsolutePosition
}
