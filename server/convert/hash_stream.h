#ifndef EIPC_SERVER_CONVERT_HASH_STREAM_H_
#define EIPC_SERVER_CONVERT_HASH_STREAM_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>
#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>

namespace eipc {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    // Only for want of memory.
    if (context_ == nullptr || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
  }
  void Add(const void* data, size_t bytes) { EVP_DigestUpdate(context_.get(), data, bytes); }
  // Adds it with its length first, so that what follows cannot be taken for part of it.
  template <typename Container>
  void AddAll(const Container& container) {
    const uint64_t size = container.size();
    Add(&size, sizeof(size));
    Add(container.data(), size * sizeof(*container.data()));
  }
  std::string Finish() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int bytes = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &bytes);
    return std::string(reinterpret_cast<const char*>(digest), bytes);
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

// What is written is hashed, piece by piece.
class HashStream : public google::protobuf::io::CopyingOutputStream {
 public:
  explicit HashStream(Sha256* hash) : hash_(hash) {}
  bool Write(const void* data, int bytes) override {
    hash_->Add(data, static_cast<size_t>(bytes));
    return true;
  }

 private:
  Sha256* const hash_;
};

// Hashes a message as it is on the wire, without holding that.
inline void AddMessage(const google::protobuf::MessageLite& message, Sha256* hash) {
  HashStream hashed(hash);
  google::protobuf::io::CopyingOutputStreamAdaptor stream(&hashed);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
}

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_HASH_STREAM_H_
