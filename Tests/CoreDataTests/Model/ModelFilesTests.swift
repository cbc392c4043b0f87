import CoreData
import Testing

@Suite struct ModelFilesTests {
    @Test(
        arguments: [
            ("/build/debug/App_Shop.resources/Shop.momd", "Shop"),
            ("/build/debug/my-app_Shop-Core.resources/models/Shop.momd", "Shop_Core"),
            ("/Shop.app/Contents/App_Shop_Kit.bundle/Contents/Resources/Shop.mom", "Shop_Kit"),
            ("/build/debug/Shop.momd", nil), ("/build/Shop.resources/Shop.momd", nil),
        ] as [(String, String?)])
    func resourcesTellTheirModule(path: String, module: String?) {
        #expect(ModelFiles.module(ofModelAt: URL(fileURLWithPath: path)) == module)
    }
}
