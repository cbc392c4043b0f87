import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

/// Every fix removes the finding that it belongs to.
@Suite struct LintFixTests {
    /// A rule, a model that breaks it, and the titles of the fixes without the one that suppresses the rule.
    static let rows: [(LintRule, String, [String])] = [
        (
            .missingInverse,
            #"""
            <entity name="Author"/><entity name="Book"><relationship name="author" optional="YES" maxCount="1" \#
            destinationEntity="Author"/></entity>
            """#,
            ["Add the inverse 'books' to 'Author'"]
        ),
        (
            .missingInverse,
            #"""
            <entity name="Author"><relationship name="novels" toMany="YES" optional="YES" \#
            destinationEntity="Book"/></entity><entity name="Book"><relationship name="author" optional="YES" \#
            maxCount="1" destinationEntity="Author"/></entity>
            """#,
            ["Make 'Book.author' the inverse"]
        ),
        (
            .badInverse,
            #"""
            <entity name="A"><attribute name="x" attributeType="String"/><relationship name="b" optional="YES" \#
            maxCount="1" destinationEntity="B" inverseName="none" inverseEntity="B"/></entity><entity \#
            name="B"><attribute name="x" attributeType="String"/></entity>
            """#,
            ["Add the inverse 'as' to 'B'", "Remove the inverse"]
        ),
        (
            .badDestination,
            #"""
            <entity name="A"><attribute name="x" attributeType="String"/><relationship name="b" optional="YES" \#
            maxCount="1"/></entity>
            """#,
            ["Delete 'A.b'"]
        ),
        (.noActionWithInverse, pair("No Action", "Nullify"), ["Use the delete rule Nullify"]),
        (.denyDeadlock, pair("Deny", "Deny"), ["Let 'A.bs' nullify", "Let 'B.a' nullify"]),
        (.cascadeToOwner, pair("Cascade", "Cascade"), ["Let 'A.bs' nullify", "Let 'B.a' nullify"]),
        (
            .nullifyRequired, pair("Nullify", "Nullify", isOptional: false),
            ["Make 'B.a' optional", "Delete them too (Cascade)", "Refuse at once (Deny)"]
        ),
        (
            .orderedToOne,
            #"""
            <entity name="A"><relationship name="a" optional="YES" maxCount="1" ordered="YES" \#
            destinationEntity="A"/></entity>
            """#,
            ["Remove the order"]
        ),
        (
            .toManyOfOne,
            #"""
            <entity name="A"><relationship name="a" optional="YES" toMany="YES" maxCount="1" \#
            destinationEntity="A"/></entity>
            """#,
            ["Make it to-many without a maximum"]
        ),
        (.badDefault, attribute(#"attributeType="Integer 16" defaultValueString="x""#), ["Remove the default"]),
        (
            .defaultFailsValidation,
            attribute(#"attributeType="Integer 16" minValueString="1" defaultValueString="0""#), ["Remove the default"]
        ),
        (
            .minimumAboveMaximum, attribute(#"attributeType="Integer 16" minValueString="9" maxValueString="1""#),
            ["Swap minimum and maximum"]
        ),
        (
            .needlessExternalStorage, attribute(#"attributeType="String" allowsExternalBinaryDataStorage="YES""#),
            ["Remove the external storage"]
        ),
        (
            .scalarWithoutDefault, attribute(#"attributeType="Double" usesScalarValueType="YES""#),
            ["Set the default 0.0"]
        ),
        (
            .transformableWithoutTransformer, attribute(#"attributeType="Transformable""#),
            ["Use NSSecureUnarchiveFromData"]
        ),
        (
            .insecureTransformer,
            attribute(#"attributeType="Transformable" valueTransformerName="NSUnarchiveFromData""#),
            ["Use NSSecureUnarchiveFromData"]
        ),
        (
            .badPredicate, attribute(#"attributeType="String" regularExpressionString="(""#),
            ["Remove the regular expression"]
        ),
        (
            .reservedName, #"<entity name="Item"><attribute name="hash" attributeType="String"/></entity>"#,
            ["Rename it to 'itemHash'"]
        ),
        (
            .swiftKeyword, #"<entity name="Item"><attribute name="default" attributeType="String"/></entity>"#,
            ["Rename it to 'itemDefault'"]
        ),
        (
            .optionalInConstraint,
            #"""
            <entity name="A"><attribute name="x" optional="YES" \#
            attributeType="String"/><uniquenessConstraints><uniquenessConstraint><constraint \#
            value="x"/></uniquenessConstraint></uniquenessConstraints></entity>
            """#,
            ["Make 'A.x' required"]
        ),
        (
            .badConstraint,
            #"""
            <entity name="A"><attribute name="x" \#
            attributeType="String"/><uniquenessConstraints><uniquenessConstraint><constraint \#
            value="none"/></uniquenessConstraint></uniquenessConstraints></entity>
            """#,
            ["Delete the constraint (none)"]
        ),
        (
            .badIndex,
            #"""
            <entity name="A"><attribute name="x" attributeType="String"/><fetchIndex name="i"><fetchIndexElement \#
            property="none" type="Binary" order="ascending"/></fetchIndex></entity>
            """#,
            ["Delete the index 'i'"]
        ),
        (.abstractWithoutChildren, #"<entity name="A" isAbstract="YES"/>"#, ["Make 'A' concrete"]),
        (.entityWithoutProperties, #"<entity name="A"/>"#, ["Delete 'A'"]),
        (
            .nothingGenerated, #"<entity name="A" codeGenerationType="class"/>"#,
            ["Name the class 'A'", "Remove the code generation"]
        ),
        (.invalidClassName, #"<entity name="A" representedClassName="a.b.c"/>"#, ["Name the class 'A'"]),
        (
            .sharedClass,
            #"<entity name="A" representedClassName="A"/><entity name="B" representedClassName="A"/>"#,
            ["Name the class 'B'"]
        ),
        (
            .inheritedRedeclared,
            #"""
            <entity name="A"><attribute name="x" attributeType="String"/></entity><entity name="B" \#
            parentEntity="A"><attribute name="x" attributeType="Date"/></entity>
            """#,
            ["Delete 'B.x': it is inherited"]
        ),
        (
            .duplicateRenaming,
            #"""
            <entity name="A"><attribute name="x" attributeType="String"/><attribute name="y" attributeType="String" \#
            elementID="x"/></entity>
            """#,
            ["Remove the renaming identifier"]
        ),
        (
            .configurationLeft,
            pair("Nullify", "Nullify") + #"<configuration name="C"><memberEntity name="A"/></configuration>"#,
            ["Add 'B' to configuration 'C'"]
        ),
        (
            .badFetchRequest,
            #"""
            <entity name="A"><attribute name="x" attributeType="String"/></entity><fetchRequest name="q" \#
            entity="None"/>
            """#,
            ["Delete the fetch request 'q'"]
        ),
    ]

    private static func pair(_ first: String, _ second: String, isOptional: Bool = true) -> String {
        """
        <entity name="A"><relationship name="bs" optional="YES" toMany="YES" deletionRule="\(first)" \
        destinationEntity="B" inverseName="a" inverseEntity="B"/></entity>\
        <entity name="B"><relationship name="a"\(isOptional ? " optional=\"YES\"" : "") maxCount="1" \
        deletionRule="\(second)" destinationEntity="A" inverseName="bs" inverseEntity="A"/></entity>
        """
    }

    private static func attribute(_ text: String) -> String {
        #"<entity name="A"><attribute name="x" \#(text)/></entity>"#
    }

    static func findings(_ bundle: ModelBundle) -> [Diagnostic] {
        ModelLinter.findings(in: bundle.versions[0].document, texts: ModelTextChecker())
    }

    @Test(arguments: rows.indices) func everyFixRemovesItsFinding(row: Int) throws {
        let (rule, elements, titles) = Self.rows[row]
        let bundle = try ModelBundle(
            files: ["contents": Data(modelText(elements).utf8)], name: "M", isSingle: true)
        let finding = try #require(Self.findings(bundle).first { $0.rule == rule.rawValue }, "\(rule)")
        let fixes = LintFix.fixes(for: finding, in: bundle, version: "M")
        #expect(fixes.filter { !$0.title.hasPrefix("Ignore") }.map(\.title) == titles)
        #expect(fixes.contains { $0.title.hasPrefix("Ignore") } == (rule.severity != .error), "\(rule)")
        for fix in fixes {
            var fixed = bundle
            guard case .edit(let version, let edits) = fix.command else { continue }
            try fixed.apply(edits, toVersion: version)
            let left = Self.findings(fixed).filter { $0.rule == rule.rawValue && $0.subject == finding.subject }
            #expect(left == [], "\(fix.title)")
        }
    }

    @Test func theCurrentVersionIsChosenByAFix() throws {
        let text = Data(modelText().utf8)
        var bundle = try ModelBundle(
            files: ["M.xcdatamodel/contents": text, "M 2.xcdatamodel/contents": text], name: "M", isSingle: false)
        let finding = try #require(ModelLinter.missingCurrentVersion(in: bundle.modelVersions, at: "M").first)
        let fix = try #require(LintFix.fixes(for: finding, in: bundle, version: "M 2").first)
        #expect(fix.command == .setCurrentVersion("M 2"))
        try bundle.setCurrent("M 2")
        #expect(ModelLinter.missingCurrentVersion(in: bundle.modelVersions, at: "M").isEmpty)
    }
}
