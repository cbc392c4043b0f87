/// Models as Xcode writes them.
enum StudioModels {
    /// ``StudioStore/shop``.
    static let shop = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Item">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="price" optional="YES" attributeType="Decimal"/>
        <attribute name="count" optional="YES" attributeType="Integer 32"/>
        <attribute name="bought" optional="YES" attributeType="Date"/>
        <attribute name="isListed" optional="YES" attributeType="Boolean"/>
        <attribute name="code" optional="YES" attributeType="UUID"/>
        <attribute name="picture" optional="YES" attributeType="Binary"/>
        <attribute name="colour" optional="YES" attributeType="Transformable"/>
        <relationship name="unit" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Unit" \
        inverseName="items" inverseEntity="Unit"/>
        </entity>
        <entity name="Unit">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Item" \
        inverseName="unit" inverseEntity="Item"/>
        </entity>
        <entity name="Note">
        <attribute name="text" optional="YES" attributeType="String"/>
        <relationship name="about" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Item"/>
        </entity>
        </model>
        """
}
