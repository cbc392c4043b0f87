/// A declared type in symbols: its kind, its name and its context.
package struct NominalDeclaration: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case `class` = "C"
        case `enum` = "O"
        case `struct` = "V"
        case `protocol` = "P"
    }

    package indirect enum Context: Hashable, Sendable {
        case module(String)
        case type(NominalDeclaration)
        /// Declared in an extension of the type in another module.
        case `extension`(of: NominalDeclaration, module: String)
    }

    package var kind: Kind
    package var name: String
    package var context: Context
    /// Distinguishes private declarations of several files; see ``FileDiscriminator``.
    package var discriminator: String?

    package init(_ kind: Kind, _ name: String, in context: Context, discriminator: String? = nil) {
        self.kind = kind
        self.name = name
        self.context = context
        self.discriminator = discriminator
    }

    /// The module that declares it.
    package var module: String {
        switch context {
        case .module(let module), .extension(_, let module): module
        case .type(let type): type.module
        }
    }

    /// The type that contains the declaration.
    package var parent: NominalDeclaration? {
        switch context {
        case .module: nil
        case .type(let type), .extension(let type, _): type
        }
    }
}

/// A canonical type: without aliases and syntactic sugar.
package indirect enum MangledType: Hashable, Sendable {
    /// A type whose declaration and outer types have no generic arguments.
    case nominal(NominalDeclaration)
    /// A type with generic arguments: one list for each level from the outermost type, empty if a level has none.
    case bound(NominalDeclaration, [[MangledType]])
    case optional(MangledType)
    case tuple([Element])
    /// `any First & Second`; without protocols, `Any`.
    case existential([NominalDeclaration], isClass: Bool)

    package struct Element: Hashable, Sendable {
        package var label: String?
        package var type: MangledType

        package init(label: String? = nil, _ type: MangledType) {
            self.label = label
            self.type = type
        }
    }

    package static let void = MangledType.tuple([])
}

/// A member whose symbols are needed.
package struct MangledMember: Hashable, Sendable {
    package enum Shape: Hashable, Sendable {
        case variable(MangledType)
        /// A label is `nil` for `_`.
        case method(labels: [String?], parameters: [MangledType])
    }

    /// The class, or an extension of it in another module.
    package var context: NominalDeclaration.Context
    package var name: String
    package var discriminator: String?
    package var shape: Shape

    package init(
        in context: NominalDeclaration.Context, name: String, discriminator: String? = nil, _ shape: Shape
    ) {
        self.context = context
        self.name = name
        self.discriminator = discriminator
        self.shape = shape
    }

    /// The symbol of the property's getter: `$s8Notebook4NoteC5titleSSSgvg`.
    package var getter: String { symbol(accessor: "vg") }

    /// The symbol of the property's setter.
    package var setter: String { symbol(accessor: "vs") }

    /// The symbol of the method: `$s8Notebook6FolderC10addToNotesyyAA4NoteCF`.
    package var method: String { symbol(accessor: "") }

    private func symbol(accessor: String) -> String {
        var mangler = Mangler()
        mangler.appendMember(self)
        return mangler.text + accessor
    }
}
