import SwiftSyntax

/// How far a declaration can be seen; in order.
enum Access: Int, Comparable {
    case `private`, `fileprivate`, `internal`, `package`, `public`

    static func < (one: Access, other: Access) -> Bool { one.rawValue < other.rawValue }

    var isOfFile: Bool { self <= .fileprivate }
}

/// A module whose declarations can be named: the target itself, one it depends on, or one of the toolchain's.
final class Module {
    let name: String
    /// The declarations at file level, by name.
    var types: [String: [TypeNode]] = [:]
    /// The modules that it passes on with `@_exported import`.
    var exported: Set<String> = []

    init(_ name: String) { self.name = name }
}

/// A source file and what of it names are looked up with.
final class SourceFile {
    let path: String
    unowned let module: Module
    /// The text of each import by the module's name, attributes and access included.
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

/// What a declaration is written in.
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

    /// The type whose member the declaration is.
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
    /// What stands after the colon.
    let inherited: [TypeSyntax]
    /// Types and aliases declared inside and in extensions.
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

    /// Whether it or a type around it can be seen in its file only.
    var isOfFile: Bool { access.isOfFile || owner.type?.isOfFile == true }

    /// How far it can be seen, the types around it considered.
    var effectiveAccess: Access { min(access, owner.type?.effectiveAccess ?? .public) }

    var isGeneric: Bool { !genericParameters.isEmpty || owner.type?.isGeneric == true }

    /// `Library.Shelf`
    var path: String { (owner.type.map { $0.path + "." } ?? "") + name }
}

/// An extension, whose type is known once names can be looked up.
final class ExtensionNode {
    let file: SourceFile
    let typeSyntax: TypeSyntax
    /// What members have that say nothing themselves.
    let access: Access?
    let conditions: [String]
    var extended: TypeNode?
    /// Whether plain code can read what is declared in it.
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
    /// The name that `@objc(…)` gives it.
    var objectiveCName: String?
    /// Where its name stands.
    var position: AbsolutePosition
}
