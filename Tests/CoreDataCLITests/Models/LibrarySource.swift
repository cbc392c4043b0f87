import Foundation
import TestSupport

/// A model of our own in two versions, as Xcode would keep it, with one of everything that a model can have.
enum LibrarySource {
    /// Writes the model to a folder and returns its path.
    static func write(to scratch: Scratch) throws -> String {
        let model = scratch.folder.appendingPathComponent("Library.xcdatamodeld")
        for (name, contents) in ["Library": first, "Library 2": second] {
            let folder = model.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try contents.write(to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        let marker = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>_XCCurrentVersionName</key>
            \t<string>Library 2.xcdatamodel</string>
            </dict>
            </plist>

            """
        try marker.write(
            to: model.appendingPathComponent(".xccurrentversion"), atomically: true, encoding: .utf8)
        return model.path
    }

    static let first = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" \
        systemVersion="22G436" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="1">
            <entity name="Book" representedClassName="Book" syncable="YES" codeGenerationType="class">
                <attribute name="title" optional="YES" attributeType="String"/>
            </entity>
        </model>
        """

    static let second = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" \
        systemVersion="22G436" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="2">
            <entity name="Author" representedClassName="Author" versionHashModifier="a" elementID="Writer" syncable="YES" \
        codeGenerationType="category">
                <attribute name="booksCount" optional="YES" attributeType="Integer 64" derived="YES" \
        derivationExpression="books.@count"/>
                <attribute name="code" attributeType="String" minValueString="2" maxValueString="9" \
        defaultValueString="&quot;A\\B&quot;" regularExpressionString="\\w+"/>
                <attribute name="home" optional="YES" attributeType="Composite" composite="Place"/>
                <relationship name="books" optional="YES" toMany="YES" minCount="1" maxCount="9" deletionRule="Cascade" \
        ordered="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
                <fetchedProperty name="longBooks" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="pages &gt; 500" \
        fetchLimit="3"/>
                </fetchedProperty>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="code"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo>
                    <entry key="a" value="line 1&#10;line 2"/>
                    <entry key="b" value="é"/>
                </userInfo>
            </entity>
            <entity name="Book" representedClassName=".Book" isAbstract="YES" syncable="YES">
                <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="date" attributeType="Date" minDateTimeInterval="-86400" \
        defaultDateTimeInterval="631152000.5" usesScalarValueType="NO"/>
                <attribute name="id" attributeType="UUID" defaultValueString="6B29FC40-CA47-1067-B31D-00DD010662DA" \
        usesScalarValueType="NO" preserveAfterDeletion="YES"/>
                <attribute name="isLent" attributeType="Boolean" defaultValueString="YES" usesScalarValueType="YES"/>
                <attribute name="page" optional="YES" attributeType="URI" defaultValueString="https://example.org/?a=1&amp;b" \
        valueTransformerName="Link"/>
                <attribute name="pages" attributeType="Integer 16" minValueString="1" maxValueString="9999" \
        defaultValueString="0" usesScalarValueType="YES" versionHashModifier="p" elementID="sheets"/>
                <attribute name="price" attributeType="Decimal" minValueString="0.5" defaultValueString="0.10"/>
                <attribute name="rating" attributeType="Float" maxValueString="5" defaultValueString="0.1" \
        usesScalarValueType="YES" spotlightIndexingEnabled="YES" storedInTruthFile="YES"/>
                <attribute name="scratch" optional="YES" transient="YES" attributeType="Transformable" \
        valueTransformerName="Secure" customClassName="[String]"/>
                <attribute name="title" attributeType="String" defaultValueString="" allowsCloudEncryption="YES">
                    <userInfo>
                        <entry key="k" value="v"/>
                    </userInfo>
                </attribute>
                <attribute name="weight" attributeType="Double" defaultValueString="1e+20" usesScalarValueType="YES"/>
                <relationship name="author" minCount="1" maxCount="1" deletionRule="Deny" destinationEntity="Author" \
        inverseName="books" inverseEntity="Author"/>
                <fetchIndex name="byBoth" partialIndexPredicate="pages &gt; 10">
                    <fetchIndexElement property="pages" type="Binary" order="descending"/>
                    <fetchIndexElement property="title" type="Binary" order="ascending"/>
                </fetchIndex>
                <fetchIndex name="byTitle">
                    <fetchIndexElement property="title" type="Binary" order="ascending"/>
                </fetchIndex>
            </entity>
            <entity name="Novel" representedClassName="Novel" parentEntity="Book" \
        coreSpotlightDisplayNameExpression="title" syncable="YES">
                <attribute name="genre" optional="YES" attributeType="String" indexed="YES"/>
                <relationship name="sequel" optional="YES" maxCount="1" deletionRule="No Action" destinationEntity="Novel" \
        inverseName="sequel" inverseEntity="Novel"/>
                <compoundIndexes>
                    <compoundIndex>
                        <index value="genre"/>
                        <index value="title"/>
                    </compoundIndex>
                </compoundIndexes>
            </entity>
            <composite name="Place">
                <attribute name="x" attributeType="Double" defaultValueString="0.5"/>
                <attribute name="y" optional="YES" attributeType="Double"/>
            </composite>
            <fetchRequest name="byAuthor" entity="Book" predicateString="author.code == $CODE" fetchBatchSize="20" \
        resultType="1" includeSubentities="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
            <configuration name="Catalogue">
                <memberEntity name="Author"/>
                <memberEntity name="Book"/>
                <memberEntity name="Novel"/>
            </configuration>
        </model>
        """
}
