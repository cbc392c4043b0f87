import CoreDataManagedProperties
import Testing

/// Symbols as the compiler wrote them, by declaration.
@Suite struct MangledSymbolTests {
    private static let note = NominalDeclaration(.class, "Note", in: .module("Notebook"))
    private static let folder = NominalDeclaration(.class, "Folder", in: .module("Notebook"))
    private static let integer = MangledType.nominal(NominalDeclaration(.struct, "Int", in: .module("Swift")))
    private static let string = MangledType.nominal(NominalDeclaration(.struct, "String", in: .module("Swift")))
    private static let data = MangledType.nominal(
        NominalDeclaration(.struct, "Data", in: .module("FoundationEssentials")))

    private static func getter(_ name: String, _ type: MangledType, in type2: NominalDeclaration = note) -> String {
        MangledMember(in: .type(type2), name: name, .variable(type)).getter
    }

    @Test func standardTypesAreTwoLetters() {
        #expect(Self.getter("title", .optional(Self.string)) == "$s8Notebook4NoteC5titleSSSgvg")
        #expect(
            Self.getter("pair", .tuple([.init(Self.integer), .init(Self.integer)])) == "$s8Notebook4NoteC4pairSi_Sitvg")
    }

    @Test func whatWasWrittenIsReferredTo() {
        let set = MangledType.bound(NominalDeclaration(.struct, "Set", in: .module("Swift")), [[.nominal(Self.note)]])
        #expect(Self.getter("folder", .optional(.nominal(Self.folder))) == "$s8Notebook4NoteC6folderAA6FolderCSgvg")
        #expect(Self.getter("notes", set) == "$s8Notebook4NoteC5notesShyACGvg")
        #expect(
            MangledMember(
                in: .type(Self.folder), name: "addToNotes", .method(labels: [nil], parameters: [.nominal(Self.note)])
            ).method == "$s8Notebook6FolderC10addToNotesyyAA4NoteCF")
    }

    @Test func referencesAreJoined() {
        let same = MangledType.nominal(Self.note)
        #expect(Self.getter("x", .tuple([.init(same), .init(same)])) == "$s8Notebook4NoteC1xAC_ACtvg")
        #expect(
            Self.getter("x", .tuple([.init(Self.integer), .init(Self.integer), .init(Self.integer)])).hasSuffix(
                "Si_S2itvg"))
    }

    @Test func wordsOfIdentifiersAreAbbreviated() {
        let type = NominalDeclaration(.class, "NoteFolder", in: .module("NoteBook"))
        #expect(
            MangledMember(in: .type(type), name: "folderBook", .variable(Self.data)).setter
                == "$s8NoteBook0A6FolderC06folderB020FoundationEssentials4DataVvs")
    }

    @Test func privateMembersCarryTheirFile() {
        let discriminator = FileDiscriminator.text(module: "Main", fileName: "b.swift")
        #expect(discriminator == "_33A94E17F4C5002954DDA110FCD1D26A")
        let member = MangledMember(
            in: .type(NominalDeclaration(.class, "A", in: .module("Main"))), name: "secret",
            discriminator: discriminator,
            .variable(.nominal(NominalDeclaration(.struct, "Int32", in: .module("Swift")))))
        #expect(member.setter == "$s4Main1AC6secret33_33A94E17F4C5002954DDA110FCD1D26ALLs5Int32Vvs")
    }

    @Test func identifiersBeyondASCIIArePunycode() {
        #expect(Self.getter("größe", Self.integer) == "$s8Notebook4NoteC009gre_GkaIiSivg")
    }
}
